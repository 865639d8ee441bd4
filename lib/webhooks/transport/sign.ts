import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** What a delivery is signed as: its message id, the time of the attempt, and the final bytes of its body. */
export interface Signed {
  /** The message id: the same for every attempt and every repetition. */
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

const PREFIX = 'whsec_';

/**
 * The headers of an advanced delivery (Standard Webhooks): one signature per secret, in their order. The secrets are texts of
 * the form `whsec_<base64>`, the newest first.
 */
export function signHeaders({
  secrets,
  ...signed
}: Signed & { readonly secrets: readonly string[] }): Record<string, string> {
  const keys = secrets.map((secret) =>
    keyOf(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64'),
  );
  return { ...named(signed), 'webhook-signature': keys.map((key) => signature(signed, key)).join(' ') };
}

/**
 * The headers of a basic delivery: the token as it is, behind `Basic` (facts B8), and the same three `webhook-*` headers, for
 * which the token's UTF-8 bytes are the key: encryption alone does not show a change (deliveries 2.10). Without a token
 * nothing can be signed.
 */
export function basicHeaders({
  authToken,
  ...signed
}: Signed & { readonly authToken: string }): Record<string, string> {
  if (authToken === '') return named(signed);
  return {
    ...named(signed),
    'webhook-signature': signature(signed, keyOf(authToken, 'utf8')),
    authorization: `Basic ${authToken}`,
  };
}

function named({ id, timestampSeconds }: Signed): Record<string, string> {
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds) };
}

/** More endpoints than a process delivers to in turn. */
const MOST_KEYS = 1_000;
const keys = new Map<string, KeyObject>();

/** The key in a secret's text. It is kept: making it takes longer than the signature. */
function keyOf(text: string, encoding: 'base64' | 'utf8'): KeyObject {
  const name = `${encoding}.${text}`;
  let key = keys.get(name);
  if (!key) {
    if (keys.size >= MOST_KEYS) keys.clear();
    // Given as bytes, Node makes the key into one at each signature, by a way that takes four times as long.
    key = createSecretKey(Buffer.from(text, encoding));
    keys.set(name, key);
  }
  return key;
}

function signature({ id, timestampSeconds, body }: Signed, key: KeyObject): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
}
