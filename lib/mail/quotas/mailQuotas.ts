import * as z from 'zod';
import { type Capability, combine } from '../../app/capability.ts';
import { recipientOf } from '../../invitations/entities.ts';
import { defineEntity } from '../../table/entity.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { insertOrReplace, type Table, type WriteOp } from '../../table/table.ts';
import { endOf, hourAt, leftOf, planCharge, QUOTA_MILLISECONDS, type QuotaHour } from '../rules/mailQuota.ts';

/** Whose mails are counted. `recipient` is `recipientOf` the address. */
export type Counted =
  | { readonly kind: 'recipient'; readonly address: string }
  | { readonly kind: 'recipient'; readonly recipient: string }
  | { readonly kind: 'writer'; readonly userId: string };

export type QuotaKind = Counted['kind'];

interface QuotaKey {
  readonly tenant: string;
  readonly kind: QuotaKind;
  readonly id: string;
}

/** Expires an hour after the end of its hour, so a process with a late clock still counts in it. */
export const MailQuotaEntity = defineEntity({
  type: 'MailQuota',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The number of mails to an address, or of recipients that a writer caused, in the hour that is counted',
  schema: z.object({ startedAt: z.number(), count: z.number() }),
  pk: ({ tenant, kind, id }: QuotaKey) => [tenant, 'MAIL_QUOTA', kind, id],
  sk: (_key: unknown) => ['QUOTA'],
  expiresAt: ({ startedAt }) => Math.ceil((startedAt + 2 * QUOTA_MILLISECONDS) / 1000),
});

export interface QuotaState {
  readonly counted: Counted;
  readonly stored: (QuotaHour & { readonly _r: number }) | undefined;
  /** How many mails are allowed now. `Infinity` without a limit. */
  readonly left: number;
  /** The end of the hour, epoch ms. */
  readonly endsAt: number;
}

export type MailLimits = Readonly<Record<QuotaKind, number>>;

export class MailQuotas {
  readonly #table: Table;
  readonly #limits: MailLimits;

  constructor(table: Table, limits: MailLimits) {
    this.#table = table;
    this.#limits = limits;
  }

  /** In the order of `counted`, with one batch read. Reads nothing for a limit that is off. */
  async read(tenant: string, counted: readonly Counted[], now: number): Promise<QuotaState[]> {
    const limited = counted.filter(({ kind }) => this.#limits[kind] > 0);
    const items = await this.#table.getMany(
      MailQuotaEntity,
      limited.map((one) => keyOf(tenant, one)),
    );
    const storedOf = new Map(limited.map((one, index) => [one, items[index]]));
    return counted.map((one) => {
      const stored = storedOf.get(one);
      const hour = hourAt(stored, now);
      return { counted: one, stored, left: leftOf(hour, this.#limits[one.kind]), endsAt: endOf(hour) };
    });
  }

  /**
   * Counts `mails`, even above `state.left`. Put the operations into the transaction that stores the mails: they conflict if
   * another process has counted since the read. Empty without a limit.
   */
  chargeOps(tenant: string, { counted, stored }: QuotaState, mails: number, now: number): WriteOp[] {
    if (this.#limits[counted.kind] === 0 || mails === 0) return [];
    const hour = hourAt(stored, now);
    return [chargeOp(keyOf(tenant, counted), { ...hour, count: hour.count + mails }, stored)];
  }

  /**
   * Counts as many of the mails as the limit allows. The others wait until `endsAt`. A repeated call counts again. Throws
   * ABORTED if other processes count all the time.
   */
  async charge(
    tenant: string,
    counted: Counted,
    mails: number,
    now: number,
  ): Promise<{ allowed: number; endsAt: number }> {
    const key = keyOf(tenant, counted);
    const limit = this.#limits[counted.kind];
    return retryOnConflict(async () => {
      const stored = limit === 0 ? undefined : await this.#table.get(MailQuotaEntity, key);
      const { next, ...charged } = planCharge(stored, mails, limit, now);
      if (next === undefined) return charged;
      return (await this.#table.write([chargeOp(key, next, stored)])) === 'done' ? charged : 'conflict';
    });
  }
}

function chargeOp(key: QuotaKey, hour: QuotaHour, stored: QuotaState['stored']): WriteOp {
  return insertOrReplace(MailQuotaEntity, { ...key, ...hour }, stored);
}

function keyOf(tenant: string, counted: Counted): QuotaKey {
  const { kind } = counted;
  if (kind === 'writer') return { tenant, kind, id: counted.userId };
  return { tenant, kind, id: 'recipient' in counted ? counted.recipient : recipientOf(counted.address) };
}

export const mailQuotas: Capability<MailQuotas> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem', 'GetItem', 'PutItem']) },
  ({ table }, env) =>
    new MailQuotas(table, {
      recipient: Number(env.MAILS_PER_RECIPIENT_PER_HOUR),
      writer: Number(env.MAILS_PER_WRITER_PER_HOUR),
    }),
  ['MAILS_PER_RECIPIENT_PER_HOUR', 'MAILS_PER_WRITER_PER_HOUR'],
);
