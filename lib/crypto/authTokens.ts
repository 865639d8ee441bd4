import { SignJWT } from 'jose';
import type { Capability } from '../app/capability.ts';
import { KeyRing } from './keyRing.ts';
import { deriveKey } from './sealing.ts';

/**
 * Issues signed auth tokens. Requests are authenticated by the hash of their token, not by its signature. Only this class therefore
 * needs the signing key.
 */
export class TokenIssuer {
  readonly #ring: KeyRing;
  readonly #issuer: string;

  constructor(ring: KeyRing, issuer: string) {
    this.#ring = ring;
    this.#issuer = issuer;
  }

  /** Returns a JWT (HS256) for an API key. `tokenId` makes the JWT unique. `now` is epoch milliseconds. */
  async issue(apiKey: string, tokenId: string, now: number): Promise<string> {
    const { version, key } = await this.#ring.current();
    return new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: version })
      .setIssuer(this.#issuer)
      .setSubject(apiKey)
      .setJti(tokenId)
      .setIssuedAt(Math.floor(now / 1000))
      .sign(deriveKey(key, ['authToken']));
  }
}

export const tokenIssuer: Capability<TokenIssuer> = {
  grants: [{ resource: 'secret/signingKey', actions: ['GetSecretValue'] }],
  env: ['SIGNING_KEY_SECRET_ARN', 'SERVICE_NAME'],
  open: (env) => new TokenIssuer(new KeyRing(env.SIGNING_KEY_SECRET_ARN), env.SERVICE_NAME),
};
