import type { Capability } from '../capability.ts';
import { matchesAny, tokenHash } from '../crypto/tokenHash.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../data/credentials.ts';
import { openTable, type Table } from '../data/table.ts';
import type { ApiKeyCaller, WorkspaceCaller } from '../endpoint.ts';
import { ApiError } from '../errors.ts';

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

interface Remembered<T> {
  readonly record: Promise<T | undefined>;
  readonly readAt: number;
}

/** Records by id, read through and remembered for seconds; the oldest is forgotten when there are too many. */
class Memory<T> {
  readonly #records = new Map<string, Remembered<T>>();
  readonly #read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>;

  constructor(read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>) {
    this.#read = read;
  }

  /**
   * The record, when there is one and it is accepted. A refusal is believed for a shorter time than a record is, so that a
   * token works soon after it was issued.
   */
  async get(id: string, { now, fresh }: VerifyOptions, accepted: (record: T) => boolean): Promise<T | undefined> {
    const known = fresh ? undefined : this.#records.get(id);
    if (known && known.readAt + POSITIVE_MILLISECONDS > now) {
      const record = await known.record;
      if (record && accepted(record)) return record;
      if (known.readAt + NEGATIVE_MILLISECONDS > now) return undefined;
    }
    const record = await this.#readThrough(id, now, fresh);
    return record && accepted(record) ? record : undefined;
  }

  async #readThrough(id: string, now: number, fresh: boolean): Promise<T | undefined> {
    const remembered = { record: this.#read(id, { eventual: !fresh }), readAt: now };
    this.#records.delete(id);
    this.#records.set(id, remembered);
    if (this.#records.size > REMEMBERED) for (const oldest of this.#records.keys()) { this.#records.delete(oldest); break; }
    try {
      return await remembered.record;
    } catch (error) {
      if (this.#records.get(id) === remembered) this.#records.delete(id);
      throw error;
    }
  }
}

/**
 * Verifies the credentials of the two levels (spec 5) against the hashes that the table holds: one eventually consistent
 * read, remembered for 10 s (a refusal for 1 s). Every failure is the same PERMISSION_DENIED, whatever was wrong.
 */
export class Credentials {
  readonly #apiKeys;
  readonly #workspaces;

  constructor(table: Table) {
    this.#apiKeys = new Memory((apiKey, options) => table.get(ApiKeyEntity, { apiKey }, options));
    this.#workspaces = new Memory((workspaceId, options) => table.get(WorkspaceEntity, { workspaceId }, options));
  }

  async apiKey(apiKey: string | undefined, authToken: string | undefined, options: VerifyOptions): Promise<ApiKeyCaller> {
    if (!plausible(apiKey) || !plausible(authToken)) throw apiKeyDenied();
    const hash = tokenHash(authToken);
    const record = await this.#apiKeys.get(apiKey, options, ({ tokenHashes, expiresAt = Infinity }) => matchesAny(hash, tokenHashes) && expiresAt > options.now);
    if (!record) throw apiKeyDenied();
    return { level: 'apiKey', tenant: record.apiKey, workspaceId: record.workspaceId, tokenHash: hash, withheld: record.withheld ?? [], pageKey: record.pageKey };
  }

  async workspace(workspaceId: string | undefined, authToken: string | undefined, options: VerifyOptions): Promise<WorkspaceCaller> {
    if (!plausible(workspaceId) || !plausible(authToken)) throw workspaceDenied();
    const hash = tokenHash(authToken);
    const record = await this.#workspaces.get(workspaceId, options, ({ tokenHashes }) => matchesAny(hash, tokenHashes));
    if (!record) throw workspaceDenied();
    return { level: 'workspace', workspaceId: record.workspaceId, ownerEmail: record.owner.email, pageKey: record.pageKey };
  }
}

function plausible(header: string | undefined): header is string {
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
