import type { Capability } from '../app/capability.ts';
import { matchesAny, tokenHash } from '../crypto/tokenHash.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../workspaces/entities.ts';
import { openTable, type Table } from '../table/table.ts';
import type { ApiKeyCaller, WorkspaceCaller } from '../app/endpoint.ts';
import { ApiError } from '../shared/errors.ts';

/** How long a record is kept in memory. A revoked token stops working within this time. */
const POSITIVE_MILLISECONDS = 10_000;
/** How long a missing record is kept in memory. Also the shortest time between two repeated reads of the same record. */
const NEGATIVE_MILLISECONDS = 1_000;
const MOST_RECORDS = 1_000;
const LONGEST_HEADER = 512;

export interface VerifyOptions {
  readonly now: number;
  /** Whether the record is read consistently from the table instead of from memory. */
  readonly fresh: boolean;
}

interface CachedRecord<T> {
  readonly record: Promise<T | undefined>;
  readonly readAt: number;
}

/** A read-through cache of records by id. It drops the oldest record when it is full. */
class RecordCache<T> {
  readonly #records = new Map<string, CachedRecord<T>>();
  /** The time of the last read that a refused credential caused, by record id. Epoch milliseconds. */
  readonly #rereadAt = new Map<string, number>();
  readonly #read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>;

  constructor(read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>) {
    this.#read = read;
  }

  /**
   * Returns the record if `accepts` returns true for it. A refused record is read again consistently, so a new token
   * works at once. Each process reads a record again at most once per second, so guessing tokens causes few reads.
   */
  async get(id: string, { now, fresh }: VerifyOptions, accepts: (record: T) => boolean): Promise<T | undefined> {
    if (fresh) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    const cached = await this.#cached(id, now);
    if (!cached || accepts(cached)) return cached;
    if (this.#mayReread(id, now)) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    // Another request may have started to read the record again in this second.
    return ifAccepted(await this.#records.get(id)?.record, accepts);
  }

  /** Returns the record from memory, or else from the table. */
  async #cached(id: string, now: number): Promise<T | undefined> {
    const cached = this.#records.get(id);
    if (cached && cached.readAt + POSITIVE_MILLISECONDS > now) {
      const record = await cached.record;
      if (record || cached.readAt + NEGATIVE_MILLISECONDS > now) return record;
    }
    return this.#readThrough(id, now, { eventual: true });
  }

  /**
   * Returns whether a refused record may be read again now, and notes the read. This method is synchronous, so
   * simultaneous requests cannot all get true.
   */
  #mayReread(id: string, now: number): boolean {
    if ((this.#rereadAt.get(id) ?? -Infinity) + NEGATIVE_MILLISECONDS > now) return false;
    if (this.#rereadAt.size >= MOST_RECORDS)
      for (const [other, readAt] of this.#rereadAt)
        if (readAt + NEGATIVE_MILLISECONDS <= now) this.#rereadAt.delete(other);
    if (this.#rereadAt.size >= MOST_RECORDS) return false;
    this.#rereadAt.set(id, now);
    return true;
  }

  async #readThrough(id: string, now: number, options: { eventual: boolean }): Promise<T | undefined> {
    const cached = { record: this.#read(id, options), readAt: now };
    this.#records.delete(id);
    this.#records.set(id, cached);
    if (this.#records.size > MOST_RECORDS)
      for (const oldest of this.#records.keys()) {
        this.#records.delete(oldest);
        break;
      }
    try {
      return await cached.record;
    } catch (error) {
      if (this.#records.get(id) === cached) this.#records.delete(id);
      throw error;
    }
  }
}

function ifAccepted<T>(record: T | undefined, accepts: (record: T) => boolean): T | undefined {
  return record !== undefined && accepts(record) ? record : undefined;
}

/**
 * Verifies the credentials of an API key or a workspace against the hashes in the table. It reads a record eventually
 * consistently and keeps it in memory for 10 s. Every wrong credential gets the same PERMISSION_DENIED.
 */
export class Credentials {
  readonly #apiKeys;
  readonly #workspaces;

  constructor(table: Table) {
    this.#apiKeys = new RecordCache((apiKey, options) => table.get(ApiKeyEntity, { apiKey }, options));
    this.#workspaces = new RecordCache((workspaceId, options) => table.get(WorkspaceEntity, { workspaceId }, options));
  }

  async apiKey(
    apiKey: string | undefined,
    authToken: string | undefined,
    options: VerifyOptions,
  ): Promise<ApiKeyCaller> {
    if (!isPlausible(apiKey) || !isPlausible(authToken)) throw apiKeyDenied();
    const hash = tokenHash(authToken);
    const record = await this.#apiKeys.get(
      apiKey,
      options,
      ({ tokenHashes, expiresAt = Infinity }) => matchesAny(hash, tokenHashes) && expiresAt > options.now,
    );
    if (!record) throw apiKeyDenied();
    return {
      level: 'apiKey',
      tenant: record.apiKey,
      workspaceId: record.workspaceId,
      tokenHash: hash,
      withheld: record.withheld ?? [],
      limits: record.limits ?? {},
      pageKey: record.pageKey,
    };
  }

  async workspace(
    workspaceId: string | undefined,
    authToken: string | undefined,
    options: VerifyOptions,
  ): Promise<WorkspaceCaller> {
    if (!isPlausible(workspaceId) || !isPlausible(authToken)) throw workspaceDenied();
    const hash = tokenHash(authToken);
    const record = await this.#workspaces.get(workspaceId, options, ({ tokenHashes }) => matchesAny(hash, tokenHashes));
    if (!record) throw workspaceDenied();
    return {
      level: 'workspace',
      workspaceId: record.workspaceId,
      ownerEmail: record.owner.email,
      authToken,
      pageKey: record.pageKey,
    };
  }
}

function isPlausible(header: string | undefined): header is string {
  return header !== undefined && header.length > 0 && header.length <= LONGEST_HEADER;
}

/** Returns the error for any wrong credential of an API key. */
export function apiKeyDenied(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'Invalid API key.');
}

function workspaceDenied(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'Invalid workspace credentials.');
}

export const credentials: Capability<Credentials> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['SERVICE_NAME', 'TABLE_NAME'],
  open: (env) => new Credentials(openTable(env)),
};

/**
 * Throws PERMISSION_DENIED unless the credentials in a body equal those of the headers. It always compares the API key
 * and the token. The time of the check therefore does not reveal which of them is wrong.
 */
export function requireOwnCredentials(
  { tenant, tokenHash: ownHash }: ApiKeyCaller,
  { apiKey, authToken }: { readonly apiKey: string; readonly authToken: string },
): void {
  const [isOwnKey, isOwnToken] = [
    matchesAny(tokenHash(apiKey), [tokenHash(tenant)]),
    matchesAny(tokenHash(authToken), [ownHash]),
  ];
  if (!isOwnKey || !isOwnToken) throw apiKeyDenied();
}
