import type { Capability } from '../app/capability.ts';
import { matchesAny, tokenHash } from '../crypto/tokenHash.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../workspaces/entities.ts';
import { openTable, type Table } from '../table/table.ts';
import type { ApiKeyCaller, WorkspaceCaller } from '../app/endpoint.ts';
import { ApiError } from '../shared/errors.ts';

/** How long a verified credential is believed without reading it again: a revoked token stops working within this time. */
const POSITIVE_MILLISECONDS = 10_000;
const NEGATIVE_MILLISECONDS = 1_000;
const REMEMBERED = 1_000;
const LONGEST = 512;

export interface VerifyOptions {
  readonly now: number;
  /** Read consistently and not from memory. */
  readonly fresh: boolean;
}

interface CachedRecord<T> {
  readonly record: Promise<T | undefined>;
  readonly readAt: number;
}

/** The records of one kind by id. They are read through, kept for seconds, and the oldest is dropped when there are too many. */
class RecordCache<T> {
  readonly #records = new Map<string, CachedRecord<T>>();
  /** When a record was last read again because it was refused, by its id. Only ids of existing records are here. */
  readonly #rereadAt = new Map<string, number>();
  readonly #read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>;

  constructor(read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>) {
    this.#read = read;
  }

  /**
   * Returns the record if `accepted` accepts it. A record that is refused is read once more, consistently, so that a new token works at once. This
   * happens at most once per id and second in a process: guessing tokens costs no more. That an id does not exist is believed for 1 s.
   */
  async get(id: string, { now, fresh }: VerifyOptions, accepted: (record: T) => boolean): Promise<T | undefined> {
    if (fresh) return acceptable(await this.#readThrough(id, now, { eventual: false }), accepted);
    const known = await this.#known(id, now);
    if (!known || accepted(known)) return known;
    if (this.#mayReread(id, now)) return acceptable(await this.#readThrough(id, now, { eventual: false }), accepted);
    // Another request may have started the read of this second after the record above was fetched.
    return acceptable(await this.#records.get(id)?.record, accepted);
  }

  /** The record from memory, or else from the table. */
  async #known(id: string, now: number): Promise<T | undefined> {
    const known = this.#records.get(id);
    if (known && known.readAt + POSITIVE_MILLISECONDS > now) {
      const record = await known.record;
      if (record || known.readAt + NEGATIVE_MILLISECONDS > now) return record;
    }
    return this.#readThrough(id, now, { eventual: true });
  }

  /** Decides synchronously, so that the bound also holds for requests at the same time. */
  #mayReread(id: string, now: number): boolean {
    if ((this.#rereadAt.get(id) ?? -Infinity) + NEGATIVE_MILLISECONDS > now) return false;
    if (this.#rereadAt.size >= REMEMBERED)
      for (const [other, at] of this.#rereadAt) if (at + NEGATIVE_MILLISECONDS <= now) this.#rereadAt.delete(other);
    if (this.#rereadAt.size >= REMEMBERED) return false;
    this.#rereadAt.set(id, now);
    return true;
  }

  async #readThrough(id: string, now: number, options: { eventual: boolean }): Promise<T | undefined> {
    const remembered = { record: this.#read(id, options), readAt: now };
    this.#records.delete(id);
    this.#records.set(id, remembered);
    if (this.#records.size > REMEMBERED)
      for (const oldest of this.#records.keys()) {
        this.#records.delete(oldest);
        break;
      }
    try {
      return await remembered.record;
    } catch (error) {
      if (this.#records.get(id) === remembered) this.#records.delete(id);
      throw error;
    }
  }
}

function acceptable<T>(record: T | undefined, accepted: (record: T) => boolean): T | undefined {
  return record !== undefined && accepted(record) ? record : undefined;
}

/**
 * Verifies the credentials of the two levels against the hashes in the table: one eventually consistent read, kept for 10 s. An unknown token of a
 * known key causes one consistent read, at most one per second. Every failure is the same PERMISSION_DENIED, whatever was wrong.
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
  return header !== undefined && header.length > 0 && header.length <= LONGEST;
}

/** The one answer to wrong credentials of an API key, whatever is wrong with them. */
export function apiKeyDenied(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'Invalid API key.');
}

function workspaceDenied(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'Invalid workspace credentials.');
}

/** Verify who calls. */
export const credentials: Capability<Credentials> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['SERVICE_NAME', 'TABLE_NAME'],
  open: (env) => new Credentials(openTable(env)),
};

/** Throws PERMISSION_DENIED unless the credentials in a body are those of the headers. Compares both always, so that the time does not show which one is wrong. */
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
