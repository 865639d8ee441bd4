import { type Capability, combine } from '../app/capability.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { type KeyRing, masterKey } from './keyRing.ts';
import { deriveKey, openBytes, sealBytes } from './sealing.ts';

/** A secret can be decrypted only for its owner, so a ciphertext copied to another record is worthless. */
export interface SecretOwner {
  readonly tenant: string;
  readonly purpose: string;
  readonly id: string;
}

const MAX_TENANT_KEYS = 1_000;

/**
 * AES-256-GCM under a key of the tenant, derived from the master key. The result begins with the version of the master
 * key, so old secrets stay readable after a rotation.
 */
export class SecretBox {
  readonly #ring: KeyRing;
  readonly #tenantKeys = new BoundedMap<string, Buffer>(MAX_TENANT_KEYS);

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  async seal(plain: string, owner: SecretOwner): Promise<string> {
    const { version, key } = await this.#ring.current();
    const sealed = sealBytes(this.#tenantKey(key, version, owner.tenant), Buffer.from(plain), bound(owner));
    return `${version}.${sealed.toString('base64url')}`;
  }

  async open(sealed: string, owner: SecretOwner): Promise<string> {
    const dot = sealed.indexOf('.');
    const version = sealed.slice(0, dot);
    const key = await this.#ring.byVersion(version);
    const plain = openBytes(
      this.#tenantKey(key, version, owner.tenant),
      Buffer.from(sealed.slice(dot + 1), 'base64url'),
      bound(owner),
    );
    if (!plain) throw new Error(`A secret for ${owner.purpose} does not open for its owner`);
    return plain.toString();
  }

  #tenantKey(master: string, version: string, tenant: string): Buffer {
    const name = `${version}.${tenant}`;
    let key = this.#tenantKeys.get(name);
    if (!key) {
      key = deriveKey(master, ['secretBox', tenant]);
      this.#tenantKeys.set(name, key);
    }
    return key;
  }
}

function bound(owner: SecretOwner): string[] {
  return [owner.tenant, owner.purpose, owner.id];
}

export const secretBox: Capability<SecretBox> = /* @__PURE__ */ combine(
  { ring: masterKey },
  ({ ring }) => new SecretBox(ring),
);
