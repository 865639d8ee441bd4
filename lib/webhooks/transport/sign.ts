import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** What a signature covers: the message id, the time of the attempt, and the final body. */
export interface SignedContent {
  /** The message id: the same for all attempts. */
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

const PREFIX = 'whsec_';

/** Returns the headers of an advanced delivery (Standard Webhooks), with one signature per secret. Secrets are `whsec_<base64>`, newest first. */
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
 * Returns the headers of a basic delivery: the token unchanged after `Basic`, and the three `webhook-*` headers, signed with the UTF-8 bytes of
 * the token. Encryption alone does not reveal a changed body. Without a token there is no signature.
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

/** More keys than one process uses at the same time. */
const MOST_KEYS = 1_000;
const keys = new Map<string, KeyObject>();

/** Returns the key of a secret from a cache: creating a key takes longer than a signature. */
function keyOf(text: string, encoding: 'base64' | 'utf8'): KeyObject {
  const name = `${encoding}.${text}`;
  let key = keys.get(name);
  if (!key) {
    if (keys.size >= MOST_KEYS) keys.clear();
    // With bytes instead of a key object, every signature would take four times as long.
    key = createSecretKey(Buffer.from(text, encoding));
    keys.set(name, key);
  }
  return key;
}

function signature({ id, timestampSeconds, body }: SignedContent, key: KeyObject): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
}
