import { randomBytes } from 'node:crypto';
import type * as z from 'zod';
import { building, type Capability, type Environment } from '../app/capability.ts';
import { type TokenIssuer, tokenIssuer } from '../crypto/authTokens.ts';
import { type SecretBox, secretBox, type SecretOwner } from '../crypto/secretBox.ts';
import { tokenHash } from '../crypto/tokenHash.ts';
import {
  type ApiKeyFields,
  type AuthTokenResponse,
  DEFAULT_TOKEN_NAME,
  describeWorkspace,
  emailKey,
  firstApiKeyName,
  keysExpireAt,
  MOST_API_KEYS,
  type OwnerDetails,
} from './rules/workspaces.ts';
import { newId } from '../shared/ids.ts';
import { ApiKeyEntity, AuthTokenEntity, OwnerEmailEntity, WorkspaceApiKeyEntity, WorkspaceEntity } from './entities.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, openTable, type QueryPage, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

export type Workspace = Parameters<typeof WorkspaceEntity.toItem>[0];
export type WorkspaceApiKey = Omit<Parameters<typeof WorkspaceApiKeyEntity.toItem>[0], 'workspaceId'>;

export type AuthToken = z.output<typeof AuthTokenResponse>;

/** What one reset can replace in a transaction; a key has one token today. */
const MOST_TOKENS = 50;

/** Makes API keys and their auth tokens. A token's text is signed, hashed to be verified by, and sealed to be listed. */
class KeyMaker {
  readonly #box: SecretBox;
  readonly #issuer: TokenIssuer;

  constructor(box: SecretBox, issuer: TokenIssuer) {
    this.#box = box;
    this.#issuer = issuer;
  }

  async defaultToken(apiKey: string, now: number): Promise<{ text: string; hash: Uint8Array; op: WriteOp }> {
    const tokenId = newId('tok', now);
    const text = await this.#issuer.issue(apiKey, tokenId, now);
    const sealed = await this.#box.seal(text, sealedFor(apiKey, tokenId));
    return {
      text,
      hash: tokenHash(text),
      op: insert(AuthTokenEntity, { apiKey, tokenId, name: DEFAULT_TOKEN_NAME, domains: [], sealed, createdAt: now }),
    };
  }

  async apiKey(
    workspaceId: string,
    fields: ApiKeyFields,
    expiresAt: number | undefined,
    now: number,
  ): Promise<{ apiKey: string; authToken: string | undefined; ops: WriteOp[] }> {
    const { apiKeyName, type, withToken } = fields;
    const apiKey = newId('key', now);
    const token = withToken ? await this.defaultToken(apiKey, now) : undefined;
    return {
      apiKey,
      authToken: token?.text,
      ops: [
        insert(ApiKeyEntity, {
          apiKey,
          workspaceId,
          tokenHashes: token ? [token.hash] : [],
          pageKey: randomBytes(32),
          expiresAt,
          createdAt: now,
        }),
        insert(WorkspaceApiKeyEntity, { workspaceId, apiKey, apiKeyName, type, createdAt: now }),
        ...(token ? [token.op] : []),
      ],
    };
  }
}

function sealedFor(apiKey: string, tokenId: string): SecretOwner {
  return { tenant: apiKey, purpose: 'authToken', id: tokenId };
}

export interface CreatedWorkspace {
  readonly workspace: Workspace;
  /** Shown once: only its hash is stored. */
  readonly workspaceAuthToken: string;
  readonly apiKey: WorkspaceApiKey;
  readonly authToken: string;
}

export class WorkspaceCreator {
  readonly #table: Table;
  readonly #keys: KeyMaker;

  constructor(table: Table, keys: KeyMaker) {
    this.#table = table;
    this.#keys = keys;
  }

  /**
   * Creates a workspace with its first API key and auth token, all in one transaction; `exists` when its owner's address
   * has one already.
   */
  async create(
    details: OwnerDetails,
    standing: { verifiedAt?: number; verifyWithinMs?: number | undefined; keysExpireAt?: number | undefined },
    now: number,
  ): Promise<CreatedWorkspace | 'exists'> {
    const { workspaceName, owner } = describeWorkspace(details);
    const workspaceAuthToken = randomBytes(16).toString('hex');
    const workspace: Workspace = {
      workspaceId: newId('ws', now),
      workspaceName,
      owner: { id: newId('usr', now), ...owner },
      verifiedAt: standing.verifiedAt,
      verifyWithinMs: standing.verifyWithinMs,
      tokenHashes: [tokenHash(workspaceAuthToken)],
      pageKey: randomBytes(32),
      createdAt: now,
    };
    const key = { apiKeyName: firstApiKeyName(owner.email), type: 'testing', withToken: true } as const;
    const {
      apiKey,
      authToken = '',
      ops,
    } = await this.#keys.apiKey(workspace.workspaceId, key, standing.keysExpireAt, now);
    const address = { email: emailKey(owner.email), workspaceId: workspace.workspaceId };
    return retryOnConflict(async () => {
      const outcome = await this.#table.write([
        insert(WorkspaceEntity, workspace),
        insert(OwnerEmailEntity, address),
        ...ops,
      ]);
      if (outcome === 'done')
        return { workspace, workspaceAuthToken, apiKey: { apiKey, ...key, createdAt: now }, authToken };
      // The transaction that was in the way may itself have failed: who has the address now?
      return (await this.#table.get(OwnerEmailEntity, address)) ? 'exists' : 'conflict';
    });
  }
}

export class WorkspaceReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** A workspace and its API keys, oldest first; undefined when there is none. */
  async get(workspaceId: string): Promise<{ workspace: Workspace; apiKeys: WorkspaceApiKey[] } | undefined> {
    const [workspace, { values: apiKeys }] = await Promise.all([
      this.#table.get(WorkspaceEntity, { workspaceId }),
      this.#table.query(WorkspaceApiKeyEntity, { workspaceId }, { prefix: ['KEY'], limit: MOST_API_KEYS }),
    ]);
    return workspace && { workspace, apiKeys };
  }
}

export class ApiKeyReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Those of the API keys that the workspace has, in the order of their ids. */
  async named(workspaceId: string, apiKeys: readonly string[]): Promise<WorkspaceApiKey[]> {
    const found = await this.#table.getMany(
      WorkspaceApiKeyEntity,
      apiKeys.map((apiKey) => ({ workspaceId, apiKey })),
    );
    return found.filter((key) => key !== undefined);
  }

  /** A page of a workspace's API keys, oldest first. */
  async list(
    workspaceId: string,
    options: { limit: number; after?: string | undefined },
  ): Promise<QueryPage<WorkspaceApiKey>> {
    return this.#table.query(WorkspaceApiKeyEntity, { workspaceId }, { prefix: ['KEY'], ...options });
  }
}

export class ApiKeyCreator {
  readonly #table: Table;
  readonly #keys: KeyMaker;

  constructor(table: Table, keys: KeyMaker) {
    this.#table = table;
    this.#keys = keys;
  }

  /**
   * Creates an API key. `full` when the workspace has as many as it may, `unverified` when the days are over that an owner
   * has to verify the address, `unknown` when there is no such workspace. What `settings` returns for the key is written in the
   * same transaction.
   */
  async create(
    workspaceId: string,
    fields: ApiKeyFields,
    settings: (apiKey: string) => Promise<WriteOp[]>,
    graceDays: number,
    now: number,
  ): Promise<{ apiKey: string; authToken: string | undefined } | 'full' | 'unverified' | 'unknown'> {
    return retryOnConflict(async () => {
      // The workspace first: a key that another request creates after this read changes the revision.
      const workspace = await this.#table.get(WorkspaceEntity, { workspaceId });
      if (!workspace) return 'unknown';
      const expiresAt = keysExpireAt(workspace, graceDays);
      if (expiresAt !== undefined && expiresAt <= now) return 'unverified';
      const { values: present } = await this.#table.query(
        WorkspaceApiKeyEntity,
        { workspaceId },
        { prefix: ['KEY'], limit: MOST_API_KEYS },
      );
      if (present.length >= MOST_API_KEYS) return 'full';
      const { apiKey, authToken, ops } = await this.#keys.apiKey(workspaceId, fields, expiresAt, now);
      // Writing its next revision makes this fail when another key was created, or the owner verified, in between.
      const outcome = await this.#table.write([
        replace(WorkspaceEntity, workspace, workspace._r),
        ...ops,
        ...(await settings(apiKey)),
      ]);
      return outcome === 'done' ? { apiKey, authToken } : 'conflict';
    });
  }
}

export class ApiKeyRenamer {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Gives an API key another name; `unknown` when the workspace has no such key. */
  async rename(workspaceId: string, apiKey: string, apiKeyName: string): Promise<'done' | 'unknown'> {
    return retryOnConflict(async () => {
      const stored = await this.#table.get(WorkspaceApiKeyEntity, { workspaceId, apiKey });
      if (!stored) return 'unknown';
      const outcome = await this.#table.write([
        replace(WorkspaceApiKeyEntity, { ...stored, workspaceId, apiKeyName }, stored._r),
      ]);
      return outcome === 'done' ? 'done' : 'conflict';
    });
  }
}

export class AuthTokenReader {
  readonly #table: Table;
  readonly #box: SecretBox;

  constructor(table: Table, box: SecretBox) {
    this.#table = table;
    this.#box = box;
  }

  /** The auth tokens of an API key with their text, oldest first; undefined when the workspace has no such key. */
  async list(workspaceId: string, apiKey: string): Promise<AuthToken[] | undefined> {
    const [key, { values: tokens }] = await Promise.all([
      this.#table.get(ApiKeyEntity, { apiKey }),
      this.#table.query(AuthTokenEntity, { apiKey }, { prefix: ['TOKEN'], limit: MOST_TOKENS }),
    ]);
    if (key?.workspaceId !== workspaceId) return undefined;
    return Promise.all(
      tokens.map(async ({ tokenId, name, domains, sealed }) => ({
        token: await this.#box.open(sealed, sealedFor(apiKey, tokenId)),
        name,
        domains,
      })),
    );
  }
}

export class AuthTokenResetter {
  readonly #table: Table;
  readonly #keys: KeyMaker;

  constructor(table: Table, keys: KeyMaker) {
    this.#table = table;
    this.#keys = keys;
  }

  /** Replaces all auth tokens of an API key by a new one; undefined when the workspace has no such key. */
  async reset(workspaceId: string, apiKey: string, now: number): Promise<AuthToken | undefined> {
    return retryOnConflict(async () => {
      const key = await this.#table.get(ApiKeyEntity, { apiKey });
      if (key?.workspaceId !== workspaceId) return undefined;
      const { values: tokens } = await this.#table.query(
        AuthTokenEntity,
        { apiKey },
        { prefix: ['TOKEN'], limit: MOST_TOKENS },
      );
      const token = await this.#keys.defaultToken(apiKey, now);
      const outcome = await this.#table.write([
        replace(ApiKeyEntity, { ...key, tokenHashes: [token.hash] }, key._r),
        ...tokens.map(({ tokenId }) => remove(AuthTokenEntity, { apiKey, tokenId })),
        token.op,
      ]);
      return outcome === 'done' ? { token: token.text, name: DEFAULT_TOKEN_NAME, domains: [] } : 'conflict';
    });
  }
}

function keyMaker(env: Environment): KeyMaker {
  return new KeyMaker(secretBox.open(env), tokenIssuer.open(env));
}

export const createWorkspaces: Capability<WorkspaceCreator> = /* @__PURE__ */ building([secretBox, tokenIssuer], {
  grants: [{ resource: 'table', actions: ['GetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new WorkspaceCreator(openTable(env), keyMaker(env)),
});

export const readWorkspace = /* @__PURE__ */ storeCapability(WorkspaceReader, ['GetItem', 'Query']);

export const readApiKeys = /* @__PURE__ */ storeCapability(ApiKeyReader, ['BatchGetItem', 'Query']);

export const createApiKeys: Capability<ApiKeyCreator> = /* @__PURE__ */ building([secretBox, tokenIssuer], {
  grants: [{ resource: 'table', actions: ['GetItem', 'Query', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ApiKeyCreator(openTable(env), keyMaker(env)),
});

export const renameApiKeys = /* @__PURE__ */ storeCapability(ApiKeyRenamer, ['GetItem', 'PutItem']);

/** Read the texts of auth tokens. */
export const readAuthTokens: Capability<AuthTokenReader> = /* @__PURE__ */ building([secretBox], {
  grants: [{ resource: 'table', actions: ['GetItem', 'Query'] }],
  env: ['TABLE_NAME'],
  open: (env) => new AuthTokenReader(openTable(env), secretBox.open(env)),
});

export const resetAuthTokens: Capability<AuthTokenResetter> = /* @__PURE__ */ building([secretBox, tokenIssuer], {
  grants: [{ resource: 'table', actions: ['GetItem', 'Query', 'PutItem', 'DeleteItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new AuthTokenResetter(openTable(env), keyMaker(env)),
});

/** Whether anyone may create a workspace over HTTP, and how many per minute from one address. */
export const workspaceCreation: Capability<{ readonly open: boolean; readonly perMinute: number }> = {
  grants: [],
  env: ['WORKSPACE_CREATION', 'WORKSPACE_CREATION_PER_MINUTE'],
  open: (env) => ({ open: env.WORKSPACE_CREATION === 'open', perMinute: Number(env.WORKSPACE_CREATION_PER_MINUTE) }),
};

/** The AWS region in which this service stores its data, read from the name of its master key. */
export const ownRegion: Capability<string> = {
  grants: [],
  env: ['MASTER_KEY_SECRET_ARN'],
  open: (env) => env.MASTER_KEY_SECRET_ARN.split(':')[3] ?? '',
};

/** For how many days the API keys of an owner work whose address is not verified. */
export const unverifiedGraceDays: Capability<number> = {
  grants: [],
  env: ['UNVERIFIED_GRACE_DAYS'],
  open: (env) => Number(env.UNVERIFIED_GRACE_DAYS),
};
