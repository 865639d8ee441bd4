import type { Capability } from '../app/capability.ts';
import type { ApiKeyCaller, UserCaller, WorkspaceCaller } from '../app/endpoint.ts';
import { matchesAny, tokenHash } from '../crypto/tokenHash.ts';
import { ApiError } from '../shared/errors.ts';
import { isId } from '../shared/ids.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { type CacheOptions, RecordCache } from '../table/recordCache.ts';
import { openTable, type Table } from '../table/table.ts';
import { ApiKeyEntity, WorkspaceEntity } from './entities.ts';

const TOKEN = /^[\w.-]{1,512}$/;

/**
 * Verifies credentials against hashes in the table. Without `fresh`, a record can come from memory or from an
 * eventually consistent read. The error does not tell which part of the credentials is wrong.
 */
export class Credentials {
  readonly #apiKeys;
  readonly #workspaces;

  constructor(table: Table) {
    this.#apiKeys = new RecordCache((apiKey, { eventual }) => readRecord(table, ApiKeyEntity, { apiKey }, eventual));
    this.#workspaces = new RecordCache((workspaceId, { eventual }) =>
      readRecord(table, WorkspaceEntity, { workspaceId }, eventual),
    );
  }

  async apiKey(
    apiKey: string | undefined,
    authToken: string | undefined,
    options: CacheOptions,
  ): Promise<ApiKeyCaller> {
    if (!isId('key', apiKey) || !isToken(authToken)) throw apiKeyDenied();
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
    options: CacheOptions,
  ): Promise<WorkspaceCaller> {
    if (!isId('ws', workspaceId) || !isToken(authToken)) throw workspaceDenied();
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

/** An eventually consistent read can miss a new record, so a missing one is read again consistently. */
async function readRecord<T, P, K>(
  table: Table,
  entity: Entity<T, P, K>,
  key: P & K,
  eventual: boolean,
): Promise<Stored<T> | undefined> {
  const record = await table.get(entity, key, { eventual });
  return record || !eventual ? record : table.get(entity, key, { eventual: false });
}

function isToken(header: string | undefined): header is string {
  return header !== undefined && TOKEN.test(header);
}

function apiKeyDenied(): ApiError {
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

/** Compares both key and token, so the time of the check does not tell which of them is wrong. */
export function requireOwnCredentials(
  caller: ApiKeyCaller | UserCaller,
  { apiKey, authToken }: { readonly apiKey: string; readonly authToken: string },
): void {
  if (caller.level !== 'apiKey') throw apiKeyDenied();
  const { tenant, tokenHash: ownHash } = caller;
  const [isOwnKey, isOwnToken] = [
    matchesAny(tokenHash(apiKey), [tokenHash(tenant)]),
    matchesAny(tokenHash(authToken), [ownHash]),
  ];
  if (!isOwnKey || !isOwnToken) throw apiKeyDenied();
}
