import { SignJWT } from 'jose';
import { type Capability, combine } from '../app/capability.ts';
import type { UserClaims } from '../app/rules/access.ts';
import { keyPairOf } from '../crypto/ed25519.ts';
import { type KeyRing, signingKey } from '../crypto/keyRing.ts';
import { deriveKey } from '../crypto/sealing.ts';
import { ApiKeyEntity } from '../http/entities.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { tableWith } from '../table/storeCapability.ts';
import { replace, type Table } from '../table/table.ts';
import { tokenKeyId, toPayload } from './rules/claims.ts';

/** Each version of the signing key and each revocation adds a public key. The oldest is dropped. */
const MAX_KEYS = 5;

type UnsignedClaims = Omit<UserClaims, 'tenant' | 'answerKey'>;

/**
 * JWTs with an Ed25519 signature. Each API key has a private key, derived from the signing key. Its record has the
 * public key, so functions that verify tokens read no secret.
 */
export class UserTokenIssuer {
  readonly #table: Table;
  readonly #ring: KeyRing;
  readonly #issuer: string;

  constructor(table: Table, ring: KeyRing, issuer: string) {
    this.#table = table;
    this.#ring = ring;
    this.#issuer = issuer;
  }

  /**
   * Stores the public key before the private key signs its first token. `answerKey`, which encrypts stored answers for
   * the user, changes only with the signing key and the user's internal id.
   */
  async signer(tenant: string): Promise<(claims: UnsignedClaims) => Promise<string>> {
    const { version, key } = await this.#ring.current();
    return retryOnConflict(async () => {
      const record = await this.#table.get(ApiKeyEntity, { apiKey: tenant });
      if (!record) throw new Error('The API key of a verified caller does not exist');
      const { userTokenKeys = [], userTokenRevocations = 0 } = record;
      const keyId = tokenKeyId({ version, revocations: userTokenRevocations });
      const { privateKey, publicKey } = keyPairOf(deriveKey(key, ['userToken', tenant, keyId]));
      if (!userTokenKeys.some((stored) => stored.keyId === keyId)) {
        const keys = [...userTokenKeys, { keyId, publicKey }].slice(-MAX_KEYS);
        const outcome = await this.#table.write([replace(ApiKeyEntity, { ...record, userTokenKeys: keys }, record._r)]);
        if (outcome !== 'done') return 'conflict';
      }
      return (claims) => {
        const answerKey = deriveKey(key, ['answers', tenant, claims.userKey]).toString('base64url');
        return new SignJWT({ ...toPayload(this.#issuer, { ...claims, tenant, answerKey }) })
          .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: keyId })
          .sign(privateKey);
      };
    });
  }
}

export const issueUserTokens: Capability<UserTokenIssuer> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'PutItem']), ring: signingKey },
  ({ table, ring }, env) => new UserTokenIssuer(table, ring, env.SERVICE_NAME),
  ['SERVICE_NAME'],
);
