import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { BoundedMap } from '../../shared/boundedMap.ts';

export interface SignedContent {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

const PREFIX = 'whsec_';

/** Keep the key, because creating one for each signature takes time. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64'));
}

export function signHeaders({
  keys,
  ...signed
}: SignedContent & { readonly keys: readonly KeyObject[] }): Record<string, string> {
  return { ...idHeaders(signed), 'webhook-signature': keys.map((key) => signature(signed, key)).join(' ') };
}

/**
 * The key of the signature is the text of the token, which is ASCII. Without a token, there is no signature. An
 * encrypted body is signed too, because encryption does not prevent changes.
 */
export function basicHeaders({
  authToken,
  ...signed
}: SignedContent & { readonly authToken: string }): Record<string, string> {
  if (authToken === '') return idHeaders(signed);
  return {
    ...idHeaders(signed),
    'webhook-signature': signature(signed, tokenKey(authToken)),
    authorization: `Basic ${authToken}`,
  };
}

function idHeaders({ id, timestampSeconds }: SignedContent): Record<string, string> {
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds) };
}

const MAX_CACHED_KEYS = 1_000;
const tokenKeys = new BoundedMap<string, KeyObject>(MAX_CACHED_KEYS);

function tokenKey(token: string): KeyObject {
  let key = tokenKeys.get(token);
  if (!key) {
    key = createSecretKey(Buffer.from(token));
    tokenKeys.set(token, key);
  }
  return key;
}

function signature({ id, timestampSeconds, body }: SignedContent, key: KeyObject): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
}
