import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EncodedWebhook, EncryptedWebhook, Webhook } from './webhookTypes.ts';

export class WebhookNotGenuine extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'WebhookNotGenuine';
  }
}

/** The largest difference between the time of a webhook and the local clock. */
const TOLERANCE_SECONDS = 300;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/**
 * Verifies the signature of a webhook (Standard Webhooks) and returns its payload, or throws WebhookNotGenuine. `body`
 * is the unparsed body of the request. During a rotation, pass the old and the new secret (`whsec_...`). The payload
 * has no `event` if the settings `encodeData` or `encryptData` are on.
 */
export function readWebhook(
  headers: Headers,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  now = Date.now(),
): Webhook | EncodedWebhook | EncryptedWebhook {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookNotGenuine('There is no webhook-timestamp.');
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw new WebhookNotGenuine('It was sent too long ago, or the clock is wrong.');
  const sentSignatures = signatures
    .split(' ')
    .flatMap((signature) => (signature.startsWith('v1,') ? [Buffer.from(signature.slice(3), 'base64')] : []));
  const isSigned = [secrets].flat().some((secret) => {
    const expected = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest();
    return sentSignatures.some(
      (signature) => signature.length === expected.length && timingSafeEqual(signature, expected),
    );
  });
  if (!isSigned) throw new WebhookNotGenuine('No signature is of one of the secrets.');
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as Webhook;
}

function headerOf(headers: Headers, name: string): string {
  const value =
    'get' in headers && typeof headers.get === 'function'
      ? headers.get(name)
      : (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return [value].flat()[0] ?? '';
}
