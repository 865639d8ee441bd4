import { organizationPartition, type OrganizationScope } from '../../directory/organizationScope.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { defineEntity } from '../../table/entity.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { insert, type Table } from '../../table/table.ts';
import { MailEntity } from '../mailStore.ts';
import type { MailRecord, MessageChannel } from '../rules/mailRecord.ts';
import { latestEndOf, WaitingEntry } from './rules.ts';

/** The entries of one user in one channel are collected together. */
export interface Collection extends OrganizationScope {
  readonly userId: string;
  readonly channel: MessageChannel;
}

export type EntryKey = Pick<WaitingEntry, 'joinsAt' | 'mailId'>;

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

export const WaitingEntryEntity = defineEntity({
  type: 'WaitingEntry',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'An activity that waits to be mailed, or sent as a direct message, to a user',
  schema: WaitingEntry,
  pk: (of: Collection) => organizationPartition(of, 'USER', of.userId, 'WAITING', of.channel),
  sk: (key: EntryKey) => [isoTime(key.joinsAt), key.mailId],
  expiresAt: (entry) => Math.ceil(latestEndOf(entry) / 1000) + LIFETIME_SECONDS,
});

/** Of one mail. A mail lists so many ids, and reads so many events. */
export const MAX_ENTRIES = 1_000;

export class EntryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Changes nothing if there is a mail for the activity and the user already. Returns the entry that waits, which can
   * have other times than `entry`. Undefined if it does not wait any more.
   */
  async add(of: Collection, entry: WaitingEntry, mail: MailRecord): Promise<WaitingEntry | undefined> {
    const key = { tenant: of.tenant, mailId: mail.mailId };
    return retryOnConflict(async () => {
      const ops = [insert(MailEntity, { ...key, ...mail }), insert(WaitingEntryEntity, { ...of, ...entry })];
      if ((await this.#table.write(ops)) === 'done') return entry;
      const existing = await this.#table.get(MailEntity, key);
      if (!existing) return 'conflict';
      return this.#table.get(WaitingEntryEntity, { ...of, mailId: mail.mailId, joinsAt: existing.deadline });
    });
  }

  /** The 1,000 that join first. */
  async list(of: Collection): Promise<readonly WaitingEntry[]> {
    const { values } = await this.#table.query(WaitingEntryEntity, of, { limit: MAX_ENTRIES });
    return values;
  }

  async remove(of: Collection, entries: readonly EntryKey[]): Promise<void> {
    await this.#table.removeKeys(entries.map((entry) => WaitingEntryEntity.key({ ...of, ...entry })));
  }
}
