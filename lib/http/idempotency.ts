import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { deriveKey, openBytes, sealBytes } from '../crypto/sealing.ts';
import { defineEntity } from '../table/entity.ts';
import type { Table } from '../table/table.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Returns the library for compression. It is loaded by the first call with an `Idempotency-Key`, because its load takes 3 ms. */
const zlib = () => process.getBuiltinModule('node:zlib');

const LEASE_MILLISECONDS = 60_000;
const LIFETIME_SECONDS = 24 * 60 * 60;
const MAX_ANSWER_BYTES = 300_000;

const Schema = z.object({
  requestHash: z.string(),
  tokenHash: z.string(),
  /** A random id of the call that wrote the claim. */
  claim: z.string(),
  /** The end of the claim, epoch milliseconds; absent after the answer is stored. */
  leaseUntil: z.number().optional(),
  httpStatus: z.number().optional(),
  /** The compressed and encrypted body of the answer; absent if it was too large to store. */
  sealed: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array).optional(),
  expiresAt: z.number(),
});
type IdempotencyRecord = z.output<typeof Schema>;

/**
 * The claim, and later the answer, of a call with an `Idempotency-Key`. The answer is encrypted with a key derived from
 * the caller's auth token, or from the `answerKey` of a user token. The table does not store these secrets, so a reader
 * of the table cannot read answers, and functions need no master key.
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
  /** The API key or the workspace id of the caller. */
  readonly owner: string;
  /** The secret that encrypts the answer: the auth token, or for a user the `answerKey` of the user token. */
  readonly authToken: string;
  readonly path: string;
  readonly key: string;
  readonly body: string;
  readonly now: number;
}

/** Returns whether a repeated call gets the same answer. Otherwise it runs again, because the answer asked the caller to retry. */
function isFinal(answer: IdempotentAnswer): boolean {
  return answer.httpStatus < 500 && answer.httpStatus !== 409 && answer.httpStatus !== 429;
}

export class Idempotency {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Runs a call once per key and body within 24 hours. Returns the new answer, or the stored answer of an earlier call.
   *
   * Before it runs, a call claims the key for 60 s. After that time another call with the same body may claim the key.
   * `run` gets the time of the first call in epoch milliseconds, rounded to seconds.
   *
   * Throws INVALID_ARGUMENT for another body or token with the same key, and ABORTED while the first call is running.
   */
  async once(
    call: IdempotentCall,
    run: (since: number) => Promise<IdempotentAnswer>,
  ): Promise<IdempotentAnswer & { replayed: boolean }> {
    const id = { owner: call.owner, path: call.path, key: call.key };
    const bound = [call.owner, call.path, call.key];
    const claim = {
      ...id,
      requestHash: sha256(call.body),
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

  /**
   * Writes the claim and returns when the record expires, in epoch seconds. If an earlier call has the key, returns its
   * record instead. A call that continues an abandoned claim keeps the expiry of that claim.
   */
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

  /** Returns the stored answer of an earlier call. Throws as `once` says. */
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

  /** Ends the lease of the claim, so that a retry can run at once. */
  async #release(claim: Claim, now: number): Promise<void> {
    await this.#table.putIf(IdempotencyEntity, { ...claim, leaseUntil: now }, { claim: claim.claim });
  }
}

function keyError(problem: string): ApiError {
  return invalid({
    path: ['Idempotency-Key'],
    code: 'idempotency_key_reused',
    message: `This Idempotency-Key ${problem}`,
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export const idempotency = /* @__PURE__ */ storeCapability(Idempotency, ['PutItem']);
