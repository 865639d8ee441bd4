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

interface Remembered<T> {
  readonly record: Promise<T | undefined>;
  until: number;
}

/** Records by id, read through and remembered for seconds; the oldest is forgotten when there are too many. */
class Memory<T> {
  readonly #records = new Map<string, Remembered<T>>();
  readonly #read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>;

  constructor(read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>) {
    this.#read = read;
  }

  async get(id: string, now: number, fresh: boolean): Promise<T | undefined> {
    const known = this.#records.get(id);
    if (known && known.until > now && !fresh) return known.record;
    const record = this.#read(id, { eventual: !fresh });
    const remembered: Remembered<T> = { record, until: now + POSITIVE_MILLISECONDS };
    this.#records.delete(id);
    this.#records.set(id, remembered);
    if (this.#records.size > REMEMBERED) for (const oldest of this.#records.keys()) { this.#records.delete(oldest); break; }
    try {
      const value = await record;
      if (!value) remembered.until = now + NEGATIVE_MILLISECONDS;
      return value;
    } catch (error) {
      if (this.#records.get(id) === remembered) this.#records.delete(id);
      throw error;
    }
  }
}

export interface VerifyOptions {
  readonly now: number;
  /** Read consistently and not from memory. */
  readonly fresh: boolean;
}

/**
 * Verifies the credentials of the two levels (spec 5) against the hashes that the table holds: one eventually consistent
 * read, remembered for 10 s. Every failure is the same PERMISSION_DENIED, whatever was wrong.
 */
export class Credentials {
  readonly #apiKeys;
  readonly #workspaces;

  constructor(table: Table) {
    this.#apiKeys = new Memory((apiKey, options) => table.get(ApiKeyEntity, { apiKey }, options));
    this.#workspaces = new Memory((workspaceId, options) => table.get(WorkspaceEntity, { workspaceId }, options));
  }

  async apiKey(apiKey: string | undefined, authToken: string | undefined, { now, fresh }: VerifyOptions): Promise<ApiKeyCaller> {
    if (!plausible(apiKey) || !plausible(authToken)) throw apiKeyDenied();
    const record = await this.#apiKeys.get(apiKey, now, fresh);
    const live = matchesAny(tokenHash(authToken), record?.tokenHashes ?? []) && (record?.expiresAt === undefined || record.expiresAt > now);
    if (!record || !live) throw apiKeyDenied();
    return { level: 'apiKey', tenant: record.apiKey, workspaceId: record.workspaceId, pageKey: record.pageKey };
  }

  async workspace(workspaceId: string | undefined, authToken: string | undefined, { now, fresh }: VerifyOptions): Promise<WorkspaceCaller> {
    if (!plausible(workspaceId) || !plausible(authToken)) throw workspaceDenied();
    const record = await this.#workspaces.get(workspaceId, now, fresh);
    if (!record || !matchesAny(tokenHash(authToken), record.tokenHashes)) throw workspaceDenied();
    return { level: 'workspace', workspaceId: record.workspaceId, ownerEmail: record.owner.email, pageKey: record.pageKey };
  }
}

function plausible(header: string | undefined): header is string {
  return header !== undefined && header.length > 0 && header.length <= LONGEST;
}

function apiKeyDenied(): ApiError {
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
