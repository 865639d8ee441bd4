import { type Capability, combine } from '../app/capability.ts';
import type { ReadUserToken } from '../app/userRule.ts';
import { isSignedBy } from '../crypto/ed25519.ts';
import { ApiKeyEntity } from '../http/entities.ts';
import { isId } from '../shared/ids.ts';
import { type CacheOptions, RecordCache } from '../table/recordCache.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type Table } from '../table/table.ts';
import { AllowedDomainsEntity } from '../workspaces/allowedDomains.ts';
import { allowedOrigin } from '../workspaces/rules/domains.ts';
import { parseToken, revocationsOf } from './rules/claims.ts';

/** The limit of API Gateway. */
const MAX_HEADER_CHARACTERS = 10_240;

const NOTHING_READ: ReadUserToken = { caller: undefined, allowedOrigin: undefined, allowedDomains: [] };

interface KeyRecord {
  readonly apiKey: NonNullable<ReturnType<typeof ApiKeyEntity.fromItem>>;
  readonly domains: readonly string[];
}

/**
 * Verifies with the public keys in the record of the API key, so functions that verify tokens cannot issue them. Record
 * and allowed domains are one BatchGet, kept for 10 s. If the key or origin is missing, they are read again, at most
 * once a second.
 */
export class UserCredentials {
  readonly #serviceName: string;
  readonly #keys;

  constructor(table: Table, serviceName: string) {
    this.#serviceName = serviceName;
    this.#keys = new RecordCache<KeyRecord>(async (tenant) => {
      const [apiKey, allowed] = await table.batchGet(
        itemOf(ApiKeyEntity, { apiKey: tenant }),
        itemOf(AllowedDomainsEntity, { tenant }),
      );
      return apiKey && { apiKey, domains: allowed?.domains ?? [] };
    });
  }

  async read(
    { authorization, origin }: { readonly authorization: string; readonly origin: string | undefined },
    options: CacheOptions,
  ): Promise<ReadUserToken> {
    const token = authorization.length <= MAX_HEADER_CHARACTERS ? bearerToken(authorization) : undefined;
    const parsed = token === undefined ? undefined : parseToken(this.#serviceName, token);
    if (!parsed || !isId('key', parsed.claims.tenant)) return NOTHING_READ;
    const { claims, keyId } = parsed;
    const publicKeyOf = ({ apiKey }: KeyRecord) => apiKey.userTokenKeys?.find((key) => key.keyId === keyId)?.publicKey;
    const isCurrent = (candidate: KeyRecord) =>
      publicKeyOf(candidate) !== undefined &&
      (origin === undefined || allowedOrigin(origin, candidate.domains) !== undefined);
    const record =
      (await this.#keys.get(claims.tenant, options, isCurrent)) ??
      (await this.#keys.get(claims.tenant, options, () => true));
    if (!record) return NOTHING_READ;
    const publicKey = publicKeyOf(record);
    const isValid =
      publicKey !== undefined &&
      isSignedBy(publicKey, parsed.signedText, parsed.signature) &&
      claims.expiresAt * 1000 > options.now &&
      (record.apiKey.expiresAt ?? Infinity) > options.now;
    const { apiKey: tenant, workspaceId, withheld = [], limits = {}, pageKey } = record.apiKey;
    const tokenRevocations = revocationsOf(keyId);
    return {
      caller: isValid
        ? { level: 'user', tenant, workspaceId, withheld, limits, pageKey, claims, tokenRevocations }
        : undefined,
      allowedOrigin: allowedOrigin(origin, record.domains),
      allowedDomains: record.domains,
    };
  }
}

function bearerToken(header: string): string | undefined {
  return /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(header)?.[1];
}

export const userCredentials: Capability<UserCredentials> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem']) },
  ({ table }, env) => new UserCredentials(table, env.SERVICE_NAME),
  ['SERVICE_NAME'],
);
