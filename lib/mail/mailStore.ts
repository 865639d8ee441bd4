import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity } from '../table/entity.ts';
import { readDue } from '../table/indexValues.ts';
import type { ItemPage } from '../table/pages.ts';
import { shardOf } from '../table/queryShards.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, type PageOptions, replace, type Table, upsert } from '../table/table.ts';
import type { DueIndex } from '../workers/dueShards.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import {
  isReadyMail,
  isSendingMail,
  MailRecord,
  type MailSubject,
  newMail,
  type ReadyMail,
  type SendingMail,
} from './rules/mailRecord.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

/** The number of index partitions for due mails. */
const mailShards = 16;

const dueMails = (shard: number) => ['MAILS', String(shard)];
export const dueMailIndex: DueIndex = { shards: mailShards, partition: dueMails };

/** A mail to one person. It is in gsi3 until its status is final. */
export const MailEntity = defineEntity({
  type: 'Mail',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose:
    'A mail to one person about an event or to an owner: its status, its number of attempts, and the time of the next attempt, without address and text',
  schema: MailRecord,
  pk: (of: { tenant: string; mailId: string }) => [of.tenant, 'MAIL', of.mailId],
  sk: (_key: unknown) => ['MAIL'],
  indexes: {
    gsi3: {
      holds: 'mails that wait for an attempt or are being sent, by shard and due time',
      pk: ({ shard, dueAt }) => (dueAt === undefined ? undefined : dueMails(shard)),
      sk: ({ dueAt = 0, mailId }) => [isoTime(dueAt), mailId],
    },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

/**
 * A pause of a tenant's mails, because the provider refused the API key or the sender address. Any change of the configuration ends
 * the pause.
 */
export const MailPauseEntity = defineEntity({
  type: 'MailPause',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A pause of e-mail, because the provider refused the API key or the sender address',
  schema: z.object({
    /** The revision of the e-mail configuration that the provider refused. */
    revision: z.number(),
    /** The end of the pause, epoch ms. */
    until: z.number(),
  }),
  pk: (of: { tenant: string }) => [of.tenant, 'CONFIG'],
  sk: (_key: unknown) => ['EmailPause'],
  expiresAt: ({ until }) => Math.ceil(until / 1000),
});

/** The length of a pause, in milliseconds. Then mails are sent again, because the refusal can be a mistake of the provider. */
const PAUSE_MILLISECONDS = 60 * 60_000;

export interface MailKey {
  readonly tenant: string;
  readonly mailId: string;
}

export type StoredMail<M extends MailRecord = MailRecord> = M & { readonly tenant: string; readonly _r: number };

/**
 * Returns the id of a mail: a hash of its reason, which includes the recipient. The same reason therefore creates only one mail.
 */
export function mailIdOf(reason: readonly (string | number)[]): string {
  const digest = hash('sha256', JSON.stringify(reason), 'base64url');
  return `mail_${digest.replace(/[-_]/g, '0').slice(0, 27)}`;
}

/** The number of parallel writes for the mails of one event. */
const PARALLEL = 20;

export class MailStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Stores new mails and leaves existing mails unchanged. Returns all mails in their initial state, even those that existed. */
  async create(
    tenant: string,
    mails: readonly { readonly mailId: string; readonly about: MailSubject }[],
    now: number,
    timing: Timing,
  ): Promise<(ReadyMail & MailKey)[]> {
    const created = mails.map((mail) => ({
      ...newMail({ ...mail, shard: shardOf(mail.mailId, mailShards) }, now, timing),
      tenant,
    }));
    await inParallel(created, PARALLEL, (mail) => this.#table.write([insert(MailEntity, mail)]));
    return created;
  }

  async get(key: MailKey): Promise<StoredMail | undefined> {
    const stored = await this.#table.get(MailEntity, key);
    return stored && { ...stored, tenant: key.tenant };
  }

  /**
   * Writes a mail if its revision is still the one that was read. Returns the stored mail, or `lost` if another worker was first.
   */
  async replace<M extends MailRecord>({ tenant, _r }: StoredMail, next: M): Promise<StoredMail<M> | 'lost'> {
    const outcome = await this.#table.write([replace(MailEntity, { ...next, tenant }, _r)]);
    return outcome === 'done' ? { ...next, tenant, _r: _r + 1 } : 'lost';
  }

  /** Returns a page of a shard's mails that were due before `time` (epoch ms), the most overdue first. */
  async listDue(
    shard: number,
    time: number,
    options: PageOptions,
  ): Promise<ItemPage<StoredMail<ReadyMail | SendingMail>>> {
    const { values, next } = await readDue(this.#table, MailEntity, dueMails(shard), time, options);
    const isDue = (mail: StoredMail): mail is StoredMail<ReadyMail | SendingMail> =>
      (isReadyMail(mail) || isSendingMail(mail)) && (mail.dueAt ?? 0) <= time;
    return { values: values.filter(isDue), next };
  }

  /** Pauses a tenant's mails. `revision` is the revision of the e-mail configuration that the provider refused. */
  async pause(tenant: string, revision: number, now: number): Promise<void> {
    await this.#table.write([upsert(MailPauseEntity, { tenant, revision, until: now + PAUSE_MILLISECONDS })]);
  }
}

/** Returns whether mails with this revision of the configuration are paused. */
export function isPaused(
  pause: { readonly revision: number; readonly until: number } | undefined,
  config: { readonly _r: number },
  now: number,
): boolean {
  return pause !== undefined && pause.revision === config._r && pause.until > now;
}

export const createMails: Capability<Pick<MailStore, 'create'>> = /* @__PURE__ */ storeCapability(MailStore, [
  'PutItem',
]);

export const updateMails: Capability<Pick<MailStore, 'get' | 'replace' | 'pause'>> = /* @__PURE__ */ storeCapability(
  MailStore,
  ['GetItem', 'PutItem'],
);

export const findDueMails: Capability<Pick<MailStore, 'listDue' | 'replace'>> = /* @__PURE__ */ storeCapability(
  MailStore,
  ['BatchGetItem', 'PutItem'],
  ['gsi3'],
);
