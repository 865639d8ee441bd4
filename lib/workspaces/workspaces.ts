import { randomBytes } from 'node:crypto';
import type * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { type TokenIssuer, tokenIssuer } from '../crypto/authTokens.ts';
import { type SecretBox, secretBox, type SecretOwner } from '../crypto/secretBox.ts';
import { tokenHash } from '../crypto/tokenHash.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../http/entities.ts';
import { newId } from '../shared/ids.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability, tableWith } from '../table/storeCapability.ts';
import {
  insert,
  insertOrReplace,
  type PageOptions,
  type QueryPage,
  remove,
  replace,
  type Table,
  type WriteOp,
} from '../table/table.ts';
import { AuthTokenEntity, type OwnerEmail, OwnerEmailEntity, WorkspaceApiKeyEntity, workspacesOf } from './entities.ts';
import {
  type ApiKeyFields,
  type AuthTokenResponse,
  DEFAULT_TOKEN_NAME,
  describeWorkspace,
  emailKey,
  firstApiKeyName,
  keysExpireAt,
  MAX_API_KEYS,
  MAX_WORKSPACES,
  type OwnerDetails,
} from './rules/workspaces.ts';
import { readVerifiedAt } from './verification.ts';

export type Workspace = Parameters<typeof WorkspaceEntity.toItem>[0];
export type WorkspaceApiKey = Omit<Parameters<typeof WorkspaceApiKeyEntity.toItem>[0], 'workspaceId'>;

export type AuthToken = z.output<typeof AuthTokenResponse>;

/** At present, an API key has at most one auth token. */
const MAX_TOKENS = 50;

/** The table has an auth token's hash, for authentication, and its encrypted text, which the owner can list. */
class KeyMaker {
  readonly box: SecretBox;
  readonly #issuer: TokenIssuer;

  constructor(box: SecretBox, issuer: TokenIssuer) {
    this.box = box;
    this.#issuer = issuer;
  }

  async defaultToken(apiKey: string, now: number): Promise<{ text: string; hash: Uint8Array; op: WriteOp }> {
    const tokenId = newId('tok', now);
    const text = await this.#issuer.issue(apiKey, tokenId, now);
    const sealed = await this.box.seal(text, secretOwnerOf(apiKey, tokenId));
    return {
      text,
      hash: tokenHash(text),
      op: insert(AuthTokenEntity, { apiKey, tokenId, name: DEFAULT_TOKEN_NAME, domains: [], sealed, createdAt: now }),
    };
  }

  async apiKey(
    workspaceId: string,
    apiKey: string,
    fields: ApiKeyFields,
    expiresAt: number | undefined,
    now: number,
  ): Promise<{ authToken: string | undefined; ops: WriteOp[] }> {
    const { apiKeyName, type, withToken } = fields;
    const token = withToken ? await this.defaultToken(apiKey, now) : undefined;
    return {
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

function secretOwnerOf(apiKey: string, tokenId: string): SecretOwner {
  return { tenant: apiKey, purpose: 'authToken', id: tokenId };
}

export interface CreatedWorkspace {
  readonly workspace: Workspace;
  /** Later calls cannot return it: the table has only its hash. */
  readonly workspaceAuthToken: string;
  readonly apiKey: WorkspaceApiKey;
  readonly authToken: string;
}

export class WorkspaceWriter {
  readonly #table: Table;
  readonly #keys: KeyMaker;

  constructor(table: Table, keys: KeyMaker) {
    this.#table = table;
    this.#keys = keys;
  }

  /**
   * Workspace, first API key and auth token in one transaction. The workspace of a verified address is verified. Returns
   * `full` if the address has the most workspaces that are allowed.
   */
  async create(
    details: OwnerDetails,
    {
      maxWorkspaces = MAX_WORKSPACES,
      ...verification
    }: {
      verifiedAt?: number;
      verifyWithinMs?: number | undefined;
      keysExpireAt?: number | undefined;
      maxWorkspaces?: number;
    },
    now: number,
  ): Promise<CreatedWorkspace | 'full'> {
    const { workspaceName, owner } = describeWorkspace(details);
    const workspaceAuthToken = randomBytes(16).toString('hex');
    const workspaceId = newId('ws', now);
    const key = { apiKeyName: firstApiKeyName(owner.email), type: 'testing', withToken: true } as const;
    const apiKey = newId('key', now);
    const address = { email: emailKey(owner.email) };
    return retryOnConflict(async () => {
      const stored = await this.#table.get(OwnerEmailEntity, address);
      if (stored && workspacesOf(stored).length >= maxWorkspaces) return 'full';
      const verifiedAt = verification.verifiedAt ?? (stored && (await readVerifiedAt(this.#table, stored)));
      const workspace: Workspace = {
        workspaceId,
        workspaceName,
        owner: { id: newId('usr', now), ...owner },
        verifiedAt,
        verifyWithinMs: verification.verifyWithinMs,
        tokenHashes: [tokenHash(workspaceAuthToken)],
        pageKey: randomBytes(32),
        createdAt: now,
      };
      const expiresAt = verifiedAt === undefined ? verification.keysExpireAt : undefined;
      const { authToken = '', ops } = await this.#keys.apiKey(workspaceId, apiKey, key, expiresAt, now);
      const owned: OwnerEmail = stored
        ? { ...stored, otherWorkspaceIds: [...(stored.otherWorkspaceIds ?? []), workspaceId] }
        : { ...address, workspaceId, verifiedAt };
      return this.#table.tryWrite(
        [insert(WorkspaceEntity, workspace), insertOrReplace(OwnerEmailEntity, owned, stored), ...ops],
        { workspace, workspaceAuthToken, apiKey: { apiKey, ...key, createdAt: now }, authToken },
      );
    });
  }

  /**
   * Creates an API key and returns its auth token, if it has one. If an earlier try of the same request has created the
   * key, returns the stored token. `settings` are in the same transaction. Creates no key if the result is:
   * - `full`: the workspace has the most API keys that are allowed.
   * - `unverified`: the owner is unverified, and the grace period is over.
   * - `unknown`: the workspace does not exist.
   */
  async createApiKey(
    workspaceId: string,
    apiKey: string,
    fields: ApiKeyFields,
    {
      settings,
      graceDays,
      now,
    }: { readonly settings: readonly WriteOp[]; readonly graceDays: number; readonly now: number },
  ): Promise<{ authToken: string | undefined } | 'full' | 'unverified' | 'unknown'> {
    return retryOnConflict(async () => {
      // The workspace is read before its keys: if a key is created after this read, the write below conflicts.
      const workspace = await this.#table.get(WorkspaceEntity, { workspaceId });
      if (!workspace) return 'unknown';
      const expiresAt = keysExpireAt(workspace, graceDays);
      if (expiresAt !== undefined && expiresAt <= now) return 'unverified';
      const { values: present } = await this.#table.query(
        WorkspaceApiKeyEntity,
        { workspaceId },
        { prefix: ['KEY'], limit: MAX_API_KEYS },
      );
      if (present.some((key) => key.apiKey === apiKey)) {
        const tokens = await new AuthTokenReader(this.#table, this.#keys.box).list(workspaceId, apiKey);
        return { authToken: tokens?.[0]?.token };
      }
      if (present.length >= MAX_API_KEYS) return 'full';
      const { authToken, ops } = await this.#keys.apiKey(workspaceId, apiKey, fields, expiresAt, now);
      // Conflicts if another request has created a key or verified the owner.
      return this.#table.tryWrite([replace(WorkspaceEntity, workspace, workspace._r), ...ops, ...settings], {
        authToken,
      });
    });
  }

  /**
   * Replaces all auth tokens by a new one. With `revokeUserTokens`, also revokes all user tokens. Undefined if the
   * workspace does not have this key.
   */
  async resetAuthTokens(
    workspaceId: string,
    apiKey: string,
    { revokeUserTokens, now }: { readonly revokeUserTokens: boolean; readonly now: number },
  ): Promise<AuthToken | undefined> {
    return retryOnConflict(async () => {
      const key = await this.#table.get(ApiKeyEntity, { apiKey });
      if (key?.workspaceId !== workspaceId) return undefined;
      const { values: tokens } = await this.#table.query(
        AuthTokenEntity,
        { apiKey },
        { prefix: ['TOKEN'], limit: MAX_TOKENS },
      );
      const token = await this.#keys.defaultToken(apiKey, now);
      return this.#table.tryWrite(
        [
          replace(
            ApiKeyEntity,
            { ...key, tokenHashes: [token.hash], ...(revokeUserTokens && withoutUserTokens(key)) },
            key._r,
          ),
          ...tokens.map(({ tokenId }) => remove(AuthTokenEntity, { apiKey, tokenId })),
          token.op,
        ],
        { token: token.text, name: DEFAULT_TOKEN_NAME, domains: [] },
      );
    });
  }
}

/** No public key remains that could verify a user token. */
export function withoutUserTokens({
  userTokenRevocations = 0,
}: {
  readonly userTokenRevocations?: number | undefined;
}) {
  return { userTokenKeys: [], userTokenRevocations: userTokenRevocations + 1 };
}

export class WorkspaceReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async get(workspaceId: string): Promise<{ workspace: Workspace; apiKeys: WorkspaceApiKey[] } | undefined> {
    const [workspace, { values: apiKeys }] = await Promise.all([
      this.#table.get(WorkspaceEntity, { workspaceId }),
      this.#table.query(WorkspaceApiKeyEntity, { workspaceId }, { prefix: ['KEY'], limit: MAX_API_KEYS }),
    ]);
    return workspace && { workspace, apiKeys };
  }
}

export class ApiKeyReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async listByIds(workspaceId: string, apiKeys: readonly string[]): Promise<WorkspaceApiKey[]> {
    const keys = await this.#table.getMany(
      WorkspaceApiKeyEntity,
      apiKeys.map((apiKey) => ({ workspaceId, apiKey })),
    );
    return keys.filter((key) => key !== undefined);
  }

  async list(workspaceId: string, options: PageOptions): Promise<QueryPage<WorkspaceApiKey>> {
    return this.#table.query(WorkspaceApiKeyEntity, { workspaceId }, { prefix: ['KEY'], ...options });
  }
}

export class ApiKeyRenamer {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async rename(workspaceId: string, apiKey: string, apiKeyName: string): Promise<'done' | 'unknown'> {
    return retryOnConflict(async () => {
      const stored = await this.#table.get(WorkspaceApiKeyEntity, { workspaceId, apiKey });
      if (!stored) return 'unknown';
      return this.#table.tryWrite([replace(WorkspaceApiKeyEntity, { ...stored, workspaceId, apiKeyName }, stored._r)]);
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

  /** Plain text, oldest first. Undefined if the workspace does not have this key. */
  async list(workspaceId: string, apiKey: string): Promise<AuthToken[] | undefined> {
    const [key, { values: tokens }] = await Promise.all([
      this.#table.get(ApiKeyEntity, { apiKey }),
      this.#table.query(AuthTokenEntity, { apiKey }, { prefix: ['TOKEN'], limit: MAX_TOKENS }),
    ]);
    if (key?.workspaceId !== workspaceId) return undefined;
    return Promise.all(
      tokens.map(async ({ tokenId, name, domains, sealed }) => ({
        token: await this.#box.open(sealed, secretOwnerOf(apiKey, tokenId)),
        name,
        domains,
      })),
    );
  }
}

const keyMaker: Capability<KeyMaker> = /* @__PURE__ */ combine(
  { box: secretBox, issuer: tokenIssuer },
  ({ box, issuer }) => new KeyMaker(box, issuer),
);

export const createWorkspaces: Capability<Pick<WorkspaceWriter, 'create'>> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'PutItem']), keys: keyMaker },
  ({ table, keys }) => new WorkspaceWriter(table, keys),
);

export const readWorkspace = /* @__PURE__ */ storeCapability(WorkspaceReader, ['GetItem', 'Query']);

export const readApiKeys = /* @__PURE__ */ storeCapability(ApiKeyReader, ['BatchGetItem', 'Query']);

export const createApiKeys: Capability<Pick<WorkspaceWriter, 'createApiKey'>> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'Query', 'PutItem']), keys: keyMaker },
  ({ table, keys }) => new WorkspaceWriter(table, keys),
);

export const renameApiKeys = /* @__PURE__ */ storeCapability(ApiKeyRenamer, ['GetItem', 'PutItem']);

export const readAuthTokens: Capability<AuthTokenReader> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'Query']), box: secretBox },
  ({ table, box }) => new AuthTokenReader(table, box),
);

export const resetAuthTokens: Capability<Pick<WorkspaceWriter, 'resetAuthTokens'>> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'Query', 'PutItem', 'DeleteItem']), keys: keyMaker },
  ({ table, keys }) => new WorkspaceWriter(table, keys),
);

/** `perMinute` is the limit of one source address. */
export const workspaceCreation: Capability<{ readonly open: boolean; readonly perMinute: number }> = {
  grants: [],
  env: ['WORKSPACE_CREATION', 'WORKSPACE_CREATION_PER_MINUTE'],
  open: (env) => ({ open: env.WORKSPACE_CREATION === 'open', perMinute: Number(env.WORKSPACE_CREATION_PER_MINUTE) }),
};

export const ownRegion: Capability<string> = {
  grants: [],
  env: ['MASTER_KEY_SECRET_ARN'],
  open: (env) => env.MASTER_KEY_SECRET_ARN.split(':')[3] ?? '',
};

export const unverifiedGraceDays: Capability<number> = {
  grants: [],
  env: ['UNVERIFIED_GRACE_DAYS'],
  open: (env) => Number(env.UNVERIFIED_GRACE_DAYS),
};
