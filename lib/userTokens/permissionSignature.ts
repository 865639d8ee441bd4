import { createHmac } from 'node:crypto';
import { type Capability, combine } from '../app/capability.ts';
import type { AccessRole, ResourceType } from '../app/rules/access.ts';
import { type KeyRing, permissionKey } from '../crypto/keyRing.ts';
import { deriveKey } from '../crypto/sealing.ts';

export interface ProvidedPermission {
  readonly userId: string;
  readonly resourceId: string;
  readonly type: ResourceType;
  readonly hasAccess: boolean;
  readonly accessRole?: AccessRole | undefined;
  /** Epoch ms. */
  readonly expiresAt?: number | undefined;
}

export class PermissionSigner {
  readonly #ring: KeyRing;

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  /**
   * HMAC-SHA-256 in hexadecimal, with a key for each API key. The order of permissions changes the signature, the order
   * of their fields does not.
   */
  async sign(tenant: string, permissions: readonly ProvidedPermission[]): Promise<string> {
    const { key } = await this.#ring.current();
    const rows = permissions.map(({ userId, resourceId, type, hasAccess, accessRole, expiresAt }) => [
      userId,
      resourceId,
      type,
      hasAccess,
      accessRole ?? null,
      expiresAt ?? null,
    ]);
    return createHmac('sha256', deriveKey(key, ['permissionSignature', tenant]))
      .update(JSON.stringify(rows))
      .digest('hex');
  }
}

export const signPermissions: Capability<PermissionSigner> = /* @__PURE__ */ combine(
  { ring: permissionKey },
  ({ ring }) => new PermissionSigner(ring),
);
