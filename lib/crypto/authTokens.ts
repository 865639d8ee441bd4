import { SignJWT } from 'jose';
import { type Capability, combine } from '../app/capability.ts';
import { serviceName } from '../app/serviceName.ts';
import { type KeyRing, masterKey } from './keyRing.ts';
import { deriveKey } from './sealing.ts';

/** Nothing verifies the signature: the hash of a request's token is compared with the stored hash. */
export class TokenIssuer {
  readonly #ring: KeyRing;
  readonly #issuer: string;

  constructor(ring: KeyRing, issuer: string) {
    this.#ring = ring;
    this.#issuer = issuer;
  }

  /** A JWT (HS256). `tokenId` makes it unique. `now` is epoch ms. */
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

export const tokenIssuer: Capability<TokenIssuer> = /* @__PURE__ */ combine(
  { ring: masterKey, issuer: serviceName },
  ({ ring, issuer }) => new TokenIssuer(ring, issuer),
);
