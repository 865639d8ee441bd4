import { randomBytes } from 'node:crypto';
import type { SecretBox, SecretOwner } from '../crypto/secretBox.ts';
import type { SigningSecret } from './rules/secrets.ts';

const SECRET_BYTES = 32;

const signingSecretOf = (tenant: string, endpointId: string): SecretOwner => ({
  tenant,
  purpose: 'webhookSecret',
  id: endpointId,
});

/** Generates a signing secret: `whsec_` and 32 random bytes in base64. Returns its text and its encrypted form. */
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
