import { organizationPartition, type OrganizationScope } from '../../directory/organizationScope.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { defineEntity } from '../../table/entity.ts';
import { insert, type Table } from '../../table/table.ts';
import { MailEntity } from '../mailStore.ts';
import type { MailRecord, MessageChannel } from '../rules/mailRecord.ts';
import { latestEndOf, WaitingEntry } from './rules.ts';

/** The entries of one user in one channel are collected together. */
export interface Collection extends OrganizationScope {
  readonly userId: string;
  readonly channel: MessageChannel;
}

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

export const WaitingEntryEntity = defineEntity({
  type: 'WaitingEntry',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'An activity that waits to be mailed, or sent as a direct message, to a user',
  schema: WaitingEntry,
  pk: (of: Collection) => organizationPartition(of, 'USER', of.userId, 'WAITING', of.channel),
  sk: (key: Pick<WaitingEntry, 'createdAt' | 'mailId'>) => [isoTime(key.createdAt), key.mailId],
  expiresAt: (entry) => Math.ceil(latestEndOf(entry) / 1000) + LIFETIME_SECONDS,
});

/** Of one mail. A mail lists so many ids, and reads so many events. */
export const MAX_ENTRIES = 1_000;

export class EntryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Changes nothing if there is a mail for the activity and the user already. */
  async add(of: Collection, entry: WaitingEntry, mail: MailRecord): Promise<void> {
    await this.#table.write([
      insert(MailEntity, { tenant: of.tenant, ...mail }),
      insert(WaitingEntryEntity, { ...of, ...entry }),
    ]);
  }

  /** The oldest 1,000. */
  async list(of: Collection): Promise<readonly WaitingEntry[]> {
    const { values } = await this.#table.query(WaitingEntryEntity, of, { limit: MAX_ENTRIES });
    return values;
  }

  async remove(of: Collection, entries: readonly Pick<WaitingEntry, 'createdAt' | 'mailId'>[]): Promise<void> {
    await this.#table.removeKeys(entries.map((entry) => WaitingEntryEntity.key({ ...of, ...entry })));
  }
}
