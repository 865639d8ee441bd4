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
import { insert, itemOf, type PageOptions, replace, type Table, upsert, type WriteOp } from '../table/table.ts';
import type { DueIndex } from '../workers/dueShards.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import { EmailConfigEntity } from '../workspaces/configs/emailConfig.ts';
import type { EmailConfig } from '../workspaces/rules/emailConfig.ts';
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

export const mailShards = 16;

const dueMails = (shard: number) => ['MAILS', String(shard)];
export const dueMailIndex: DueIndex = { shards: mailShards, partition: dueMails };

export const MailEntity = defineEntity({
  type: 'Mail',
  version: 4,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose:
    'A mail about an event, to an owner, or with an invitation, or a message in Slack: its status, its number of attempts, and the time of the next attempt, without address and text',
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

/** Any change of the e-mail configuration ends the pause. */
export const MailPauseEntity = defineEntity({
  type: 'MailPause',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A pause of e-mail, because the provider refused the API key or the sender address',
  schema: z.object({
    revision: z.number(),
    until: z.number(),
  }),
  pk: (of: { tenant: string }) => [of.tenant, 'CONFIG'],
  sk: (_key: unknown) => ['EmailPause'],
  expiresAt: ({ until }) => Math.ceil(until / 1000),
});

/**
 * After this time, new mails are sent, because the refusal can be a mistake of the provider. Mails of the pause stay
 * unsent.
 */
const PAUSE_MILLISECONDS = 60 * 60_000;

export interface MailKey {
  readonly tenant: string;
  readonly mailId: string;
}

export type StoredMail<M extends MailRecord = MailRecord> = M & { readonly tenant: string; readonly _r: number };

/** A hash of the reason, so the same reason creates only one mail. */
export function mailIdOf(reason: readonly (string | number)[]): string {
  const digest = hash('sha256', JSON.stringify(reason), 'base64url');
  return `mail_${digest.replace(/[-_]/g, '0').slice(0, 27)}`;
}

const PARALLEL = 20;

interface PlannedMail {
  readonly mail: ReadyMail & MailKey;
  readonly op: WriteOp;
}

/** The operation stores the mail in the transaction of its reason. Then send the message of the mail. */
export function planMail(
  tenant: string,
  { mailId, about }: { readonly mailId: string; readonly about: MailSubject },
  now: number,
  timing: Timing,
): PlannedMail {
  const mail = { ...newMail({ mailId, about, shard: shardOf(mailId, mailShards) }, now, timing), tenant };
  return { mail, op: insert(MailEntity, mail) };
}

export class MailStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Leaves existing mails unchanged. Returns all mails in their initial state, even those that existed. */
  async create(
    tenant: string,
    mails: readonly { readonly mailId: string; readonly about: MailSubject }[],
    now: number,
    timing: Timing,
  ): Promise<(ReadyMail & MailKey)[]> {
    const planned = mails.map((mail) => planMail(tenant, mail, now, timing));
    await inParallel(planned, PARALLEL, ({ op }) => this.#table.write([op]));
    return planned.map(({ mail }) => mail);
  }

  /** `exists` if there is a mail with the id already. `conflict` if the other operations conflict. */
  async createWith(
    tenant: string,
    mail: { readonly mailId: string; readonly about: MailSubject },
    ops: readonly WriteOp[],
    now: number,
    timing: Timing,
  ): Promise<(ReadyMail & MailKey) | 'exists' | 'conflict'> {
    const planned = planMail(tenant, mail, now, timing);
    if ((await this.#table.write([planned.op, ...ops])) === 'done') return planned.mail;
    return (await this.get({ tenant, mailId: mail.mailId })) ? 'exists' : 'conflict';
  }

  async get(key: MailKey): Promise<StoredMail | undefined> {
    const stored = await this.#table.get(MailEntity, key);
    return stored && { ...stored, tenant: key.tenant };
  }

  /** Returns `lost` if another worker has changed the mail since it was read. */
  async replace<M extends MailRecord>({ tenant, _r }: StoredMail, next: M): Promise<StoredMail<M> | 'lost'> {
    const outcome = await this.#table.write([replace(MailEntity, { ...next, tenant }, _r)]);
    return outcome === 'done' ? { ...next, tenant, _r: _r + 1 } : 'lost';
  }

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

  async pause(tenant: string, revision: number, now: number): Promise<void> {
    await this.#table.write([upsert(MailPauseEntity, { tenant, revision, until: now + PAUSE_MILLISECONDS })]);
  }
}

export function isPaused(
  pause: { readonly revision: number; readonly until: number } | undefined,
  config: { readonly _r: number },
  now: number,
): boolean {
  return pause !== undefined && pause.revision === config._r && pause.until > now;
}

/** The end of a pause of mails (epoch ms). */
export async function readMailPause(
  reader: Pick<Table, 'batchGet'>,
  tenant: string,
  now: number,
): Promise<number | undefined> {
  return (await readMailState(reader, tenant, now)).pausedUntil;
}

/** Undefined without a configuration of e-mail, and while mails are paused. */
export async function readMailConfig(
  reader: Pick<Table, 'batchGet'>,
  tenant: string,
  now: number,
): Promise<EmailConfig | undefined> {
  const { config, pausedUntil } = await readMailState(reader, tenant, now);
  return pausedUntil === undefined ? config : undefined;
}

async function readMailState(reader: Pick<Table, 'batchGet'>, tenant: string, now: number) {
  const [config, pause] = await reader.batchGet(
    itemOf(EmailConfigEntity, { tenant }),
    itemOf(MailPauseEntity, { tenant }),
  );
  return { config, pausedUntil: config && isPaused(pause, config, now) ? pause?.until : undefined };
}

export const createMails: Capability<Pick<MailStore, 'create' | 'createWith'>> = /* @__PURE__ */ storeCapability(
  MailStore,
  ['GetItem', 'PutItem'],
);

export const updateMails: Capability<Pick<MailStore, 'get' | 'replace' | 'pause'>> = /* @__PURE__ */ storeCapability(
  MailStore,
  ['GetItem', 'PutItem'],
);

export const findDueMails: Capability<Pick<MailStore, 'listDue' | 'replace'>> = /* @__PURE__ */ storeCapability(
  MailStore,
  ['BatchGetItem', 'PutItem'],
  ['gsi3'],
);
