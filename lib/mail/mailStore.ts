import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { instantKey } from '../shared/times.ts';
import type { Timing } from '../webhooks/rules/schedule.ts';
import {
  isReady,
  isSending,
  MailRecord,
  type MailSubject,
  newMail,
  type ReadyMail,
  type SendingMail,
} from './rules/mail.ts';
import { inParallel } from '../shared/inParallel.ts';
import { defineEntity, indexPartition } from '../table/entity.ts';
import { eventShards } from '../events/outbox.ts';
import { tenantOf } from '../table/keys.ts';
import { insert, replace, type Table, upsert } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

/** Mails are spread like events, over as many partitions of the index. */
export const mailShards = eventShards;

const dueMails = (shard: number) => ['MAILS', String(shard)];

/** A mail to one person. It is due, and in gsi3, until it has ended. */
export const MailEntity = defineEntity({
  type: 'Mail',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose:
    'A mail to one person about an event or for the owner: its state, attempts so far, and when it is due; without address and text',
  schema: MailRecord,
  pk: (of: { tenant: string; mailId: string }) => [of.tenant, 'MAIL', of.mailId],
  sk: (_key: unknown) => ['MAIL'],
  indexes: {
    gsi3: {
      holds: 'mails that are to be sent or are being sent, by shard and the time when the sweeper looks after them',
      pk: ({ shard, dueAt }) => (dueAt === undefined ? undefined : dueMails(shard)),
      sk: ({ dueAt = 0, mailId }) => [instantKey(dueAt), mailId],
    },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

/** That a tenant's provider refused the key or the sender. Nothing is mailed through it until the configuration changes or the time is over. */
export const MailPauseEntity = defineEntity({
  type: 'MailPause',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'That e-mail pauses because the provider refused the key or the sender of this configuration',
  schema: z.object({
    /** The revision of the e-mail configuration that was refused: any change of it ends the pause. */
    revision: z.number(),
    /** Epoch ms. */
    until: z.number(),
  }),
  pk: (of: { tenant: string }) => [of.tenant, 'CONFIG'],
  sk: (_key: unknown) => ['EmailPause'],
  expiresAt: ({ until }) => Math.ceil(until / 1000),
});

/** How long e-mail pauses before it is tried once more: a provider's refusal can be a mistake. */
const PAUSE_MILLISECONDS = 60 * 60_000;

export interface MailKey {
  readonly tenant: string;
  readonly mailId: string;
}

/** Whose mail it is, which is a part of its key, and at which revision it was read. */
export type Kept<M extends MailRecord = MailRecord> = M & { readonly tenant: string; readonly _r: number };

/** The id of a mail, which follows from what it is about and for whom: the same reason makes the same mail, once. */
export function mailIdOf(reason: readonly (string | number)[]): string {
  return `mail_${createHash('sha256').update(JSON.stringify(reason)).digest('base64url').replace(/[-_]/g, '0').slice(0, 27)}`;
}

/** How many mails of one event are written at a time. */
const PARALLEL = 20;

export class MailStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Writes mails that are to be sent; those that are there stay as they are. Gives what was to be written. */
  async make(
    tenant: string,
    mails: readonly { readonly mailId: string; readonly about: MailSubject }[],
    now: number,
    timing: Timing,
  ): Promise<(ReadyMail & MailKey)[]> {
    const made = mails.map((mail) => ({ ...newMail({ ...mail, shard: shardOf(mail) }, now, timing), tenant }));
    await inParallel(made, PARALLEL, async (mail) => void (await this.#table.write([insert(MailEntity, mail)])));
    return made;
  }

  async get(key: MailKey): Promise<Kept | undefined> {
    const stored = await this.#table.get(MailEntity, key);
    return stored && { ...stored, tenant: key.tenant };
  }

  /** Writes what became of a mail over the revision that was read, and gives it as it is stored then; `lost` when somebody else wrote. */
  async replace<M extends MailRecord>({ tenant, _r }: Kept, next: M): Promise<Kept<M> | 'lost'> {
    const outcome = await this.#table.write([replace(MailEntity, { ...next, tenant }, _r)]);
    return outcome === 'done' ? { ...next, tenant, _r: _r + 1 } : 'lost';
  }

  /** Mails of a shard that the sweeper was to look after by a time (epoch ms), the longest overdue first. */
  async due(
    shard: number,
    at: number,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ mails: Kept<ReadyMail | SendingMail>[]; next: string | undefined }> {
    const between = [instantKey(0), instantKey(at)] as const;
    const { keys, next } = await this.#table.queryIndex('gsi3', indexPartition('tenant', dueMails(shard)), {
      ...options,
      between,
    });
    const found = await this.#table.getByKeys(MailEntity, keys);
    const mails = found.flatMap((mail, index) =>
      mail && (isReady(mail) || isSending(mail)) && (mail.dueAt ?? 0) <= at
        ? [{ ...mail, tenant: tenantOf(keys[index]!) }]
        : [],
    );
    return { mails, next };
  }

  /** Has a tenant's e-mail pause, because the provider refuses this revision of the configuration. */
  async pause(tenant: string, revision: number, now: number): Promise<void> {
    await this.#table.write([upsert(MailPauseEntity, { tenant, revision, until: now + PAUSE_MILLISECONDS })]);
  }
}

function shardOf({ mailId }: { mailId: string }): number {
  return [...mailId].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % mailShards;
}

/** Whether e-mail pauses for a configuration. */
export function isPaused(
  pause: { readonly revision: number; readonly until: number } | undefined,
  config: { readonly _r: number },
  now: number,
): boolean {
  return pause !== undefined && pause.revision === config._r && pause.until > now;
}

/** Make mails. */
export const makeMails: Capability<Pick<MailStore, 'make'>> = /* @__PURE__ */ storeCapability(MailStore, ['PutItem']);

/** Send mails, and write down what came of it. */
export const keepMails: Capability<Pick<MailStore, 'get' | 'make' | 'replace' | 'pause'>> =
  /* @__PURE__ */ storeCapability(MailStore, ['GetItem', 'PutItem']);

/** Find mails that are due, and put them off. */
export const findDueMails: Capability<Pick<MailStore, 'due' | 'replace'>> = /* @__PURE__ */ storeCapability(
  MailStore,
  ['BatchGetItem', 'PutItem'],
  ['gsi3'],
);
