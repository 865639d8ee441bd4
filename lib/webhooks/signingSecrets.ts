import { type KeyObject, randomBytes } from 'node:crypto';
import type { SecretBox, SecretOwner } from '../crypto/secretBox.ts';
import type { SigningSecret } from './rules/secrets.ts';
import { signingKey } from './transport/sign.ts';

const SECRET_BYTES = 32;

const signingSecretOf = (tenant: string, endpointId: string): SecretOwner => ({
  tenant,
  purpose: 'webhookSecret',
  id: endpointId,
});

/** `text` is for the customer, `stored` is sealed. */
export async function createSigningSecret(
  box: SecretBox,
  tenant: string,
  endpointId: string,
  now: number,
): Promise<{ text: string; stored: SigningSecret }> {
  const text = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  return { text, stored: { sealed: await box.seal(text, signingSecretOf(tenant, endpointId)), createdAt: now } };
}

export async function openSigningSecret(
  box: SecretBox,
  tenant: string,
  endpointId: string,
  { sealed }: SigningSecret,
): Promise<string> {
  return box.open(sealed, signingSecretOf(tenant, endpointId));
}

const signingKeys = new WeakMap<SigningSecret, KeyObject>();

/** Decryption takes longer than signing, so the key is kept as long as the tenant's settings are in memory. */
export async function openSigningKey(
  box: SecretBox,
  tenant: string,
  endpointId: string,
  secret: SigningSecret,
): Promise<KeyObject> {
  const kept = signingKeys.get(secret);
  if (kept) return kept;
  const key = signingKey(await openSigningSecret(box, tenant, endpointId, secret));
  signingKeys.set(secret, key);
  return key;
}
