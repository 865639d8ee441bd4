import { hash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { deriveKey, openBytes, sealBytes } from '../crypto/sealing.ts';
import { canonicalJson } from '../shared/canonicalJson.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { defineEntity } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';

const zlib = () => process.getBuiltinModule('node:zlib');

const LEASE_MILLISECONDS = 60_000;
const LIFETIME_SECONDS = 24 * 60 * 60;
const MAX_ANSWER_BYTES = 300_000;

const Schema = z.object({
  requestHash: z.string(),
  tokenHash: z.string(),
  claim: z.string(),
  /** Epoch milliseconds. Absent after the answer is stored. */
  leaseUntil: z.number().optional(),
  httpStatus: z.number().optional(),
  /** Compressed and encrypted. Absent before the answer, and if the answer was too large to store. */
  sealed: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array).optional(),
  expiresAt: z.number(),
});
type IdempotencyRecord = z.output<typeof Schema>;

/**
 * First the claim of a call, later its answer. A secret of the caller, which the table does not contain in clear text,
 * encrypts the answer.
 */
export const IdempotencyEntity = defineEntity({
  type: 'Idempotency',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The answer of a call under an Idempotency-Key, for 24 hours',
  schema: Schema,
  pk: (of: { owner: string; path: string; key: string }) => [of.owner, 'IDEMPOTENCY', of.path, of.key],
  sk: (_key: unknown) => ['ANSWER'],
  expiresAt: (value) => value.expiresAt,
});

type Claim = IdempotencyRecord & { owner: string; path: string; key: string };

export interface IdempotentAnswer {
  readonly httpStatus: number;
  readonly body: string;
}

export interface IdempotentCall {
  readonly owner: string;
  readonly authToken: string;
  readonly path: string;
  readonly key: string;
  readonly body: string;
  readonly now: number;
}

function isFinal(answer: IdempotentAnswer): boolean {
  return answer.httpStatus < 500 && answer.httpStatus !== 409 && answer.httpStatus !== 429;
}

export class Idempotency {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns the answer of `run`, or the stored answer of an earlier call with the same owner, path, key and body.
   *
   * A call claims the key for 60 s. If it has stored no answer by then, another call with the same body can run. `run`
   * gets the time of the first call in epoch milliseconds, rounded down to seconds.
   *
   * Throws INVALID_ARGUMENT for a key that was used with another body or token, and ABORTED if the first call is still
   * running or its answer was too large to store.
   */
  async once(
    call: IdempotentCall,
    run: (since: number) => Promise<IdempotentAnswer>,
  ): Promise<IdempotentAnswer & { replayed: boolean }> {
    const id = { owner: call.owner, path: call.path, key: call.key };
    const bound = [call.owner, call.path, call.key];
    const claim = {
      ...id,
      requestHash: sha256(sameText(call.body)),
      tokenHash: sha256(call.authToken),
      claim: randomUUID(),
      expiresAt: Math.floor(call.now / 1000) + LIFETIME_SECONDS,
    };
    const claimed = await this.#claim({ ...claim, leaseUntil: call.now + LEASE_MILLISECONDS }, call.now);
    if ('earlier' in claimed) {
      const answer = this.#openAnswer(claimed.earlier, claim, call, bound);
      return { ...answer, replayed: true };
    }
    const record = { ...claim, expiresAt: claimed.expiresAt };
    let answer: IdempotentAnswer;
    try {
      answer = await run((record.expiresAt - LIFETIME_SECONDS) * 1000);
    } catch (error) {
      await this.#release(record, call.now);
      throw error;
    }
    if (!isFinal(answer)) {
      await this.#release(record, call.now);
    } else {
      const sealed = sealBytes(deriveKey(call.authToken, ['idempotency']), zlib().gzipSync(answer.body), bound);
      const body = sealed.length <= MAX_ANSWER_BYTES ? { sealed } : {};
      await this.#table.putIf(
        IdempotencyEntity,
        { ...record, httpStatus: answer.httpStatus, ...body },
        { claim: record.claim },
      );
    }
    return { ...answer, replayed: false };
  }

  /** The expiry tells the time of the first call, so a call that takes over an abandoned claim keeps it. */
  async #claim(record: Claim, now: number): Promise<{ expiresAt: number } | { earlier: IdempotencyRecord }> {
    const earlier = await this.#table.putIf(IdempotencyEntity, record, 'absent');
    if (earlier === 'done') return { expiresAt: record.expiresAt };
    const expired = earlier.expiresAt * 1000 <= now;
    const abandoned =
      earlier.leaseUntil !== undefined && earlier.leaseUntil <= now && earlier.requestHash === record.requestHash;
    if (!expired && !abandoned) return { earlier };
    const { expiresAt } = expired ? record : earlier;
    const outcome = await this.#table.putIf(IdempotencyEntity, { ...record, expiresAt }, { claim: earlier.claim });
    return outcome === 'done' ? { expiresAt } : { earlier: outcome };
  }

  #openAnswer(earlier: IdempotencyRecord, claim: Claim, call: IdempotentCall, bound: string[]): IdempotentAnswer {
    if (earlier.requestHash !== claim.requestHash) throw keyError('was used with another request body');
    if (earlier.httpStatus === undefined)
      throw new ApiError('ABORTED', 'A request with this Idempotency-Key is still running; send it again in a moment');
    if (earlier.tokenHash !== claim.tokenHash) throw keyError('was used with another auth token');
    if (!earlier.sealed)
      throw new ApiError(
        'ABORTED',
        'The request under this Idempotency-Key was carried out, but its answer was too large to keep',
      );
    const body = openBytes(deriveKey(call.authToken, ['idempotency']), earlier.sealed, bound);
    if (!body) throw new Error('A stored answer cannot be decrypted with the token that encrypted it');
    return { httpStatus: earlier.httpStatus, body: zlib().gunzipSync(body).toString() };
  }

  /** Ends the claim, so that a repeated call can run at once. */
  async #release(claim: Claim, now: number): Promise<void> {
    await this.#table.putIf(IdempotencyEntity, { ...claim, leaseUntil: now }, { claim: claim.claim });
  }
}

/** Some clients change spaces and the order of keys in each attempt. */
function sameText(body: string): string {
  return body.trim() && canonicalJson(JSON.parse(body));
}

function keyError(problem: string): ApiError {
  return invalid({
    path: ['Idempotency-Key'],
    code: 'idempotency_key_reused',
    message: `This Idempotency-Key ${problem}`,
  });
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}

export const idempotency = /* @__PURE__ */ storeCapability(Idempotency, ['PutItem']);
