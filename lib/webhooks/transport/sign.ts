import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** The signed content: the message id, the time of the attempt, and the encoded body. */
export interface SignedContent {
  /** The message id. All attempts of a message have the same id. */
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

const PREFIX = 'whsec_';

/**
 * Returns the headers of an advanced delivery (Standard Webhooks), with one signature per secret. Each secret is `whsec_<base64>`.
 */
export function signHeaders({
  secrets,
  ...signed
}: SignedContent & { readonly secrets: readonly string[] }): Record<string, string> {
  const keys = secrets.map((secret) =>
    keyOf(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64'),
  );
  return { ...idHeaders(signed), 'webhook-signature': keys.map((key) => signature(signed, key)).join(' ') };
}

/**
 * Returns the headers of a basic delivery: the token after `Basic`, and the three `webhook-*` headers. The key of the signature is
 * the UTF-8 text of the token. Without a token, there is no signature. An encrypted body is signed too, because encryption does not
 * prevent changes.
 */
export function basicHeaders({
  authToken,
  ...signed
}: SignedContent & { readonly authToken: string }): Record<string, string> {
  if (authToken === '') return idHeaders(signed);
  return {
    ...idHeaders(signed),
    'webhook-signature': signature(signed, keyOf(authToken, 'utf8')),
    authorization: `Basic ${authToken}`,
  };
}

function idHeaders({ id, timestampSeconds }: SignedContent): Record<string, string> {
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds) };
}

/** The most cached keys. A process uses fewer keys at the same time. */
const MAX_CACHED_KEYS = 1_000;
const keys = new Map<string, KeyObject>();

/** Returns the key of a secret from a cache, because creating a key takes longer than signing. */
function keyOf(text: string, encoding: 'base64' | 'utf8'): KeyObject {
  const name = `${encoding}.${text}`;
  let key = keys.get(name);
  if (!key) {
    if (keys.size >= MAX_CACHED_KEYS) keys.clear();
    // Signing with bytes instead of a key object would take four times as long.
    key = createSecretKey(Buffer.from(text, encoding));
    keys.set(name, key);
  }
  return key;
}

function signature({ id, timestampSeconds, body }: SignedContent, key: KeyObject): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
}
