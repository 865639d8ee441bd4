import { createHmac, timingSafeEqual } from 'node:crypto';

/** Not sent by the service, or too old, or not signed with any of the secrets. */
export class WebhookNotGenuine extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'WebhookNotGenuine';
  }
}

/** How far the clocks of sender and receiver may be apart, and how old a webhook may be. */
const TOLERANCE_SECONDS = 300;

/** A header's value, however the framework gives it. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/**
 * The payload of a webhook that came, once its signature is right (Standard Webhooks); throws WebhookNotGenuine else. `body` is the request's
 * body as it came, not parsed. During a rotation give the endpoint's secrets both (`whsec_...`).
 */
export function readWebhook(
  headers: Headers,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  now = Date.now(),
): unknown {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookNotGenuine('There is no webhook-timestamp.');
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw new WebhookNotGenuine('It was sent too long ago, or the clock is wrong.');
  const given = signatures
    .split(' ')
    .flatMap((signature) => (signature.startsWith('v1,') ? [Buffer.from(signature.slice(3), 'base64')] : []));
  const isSigned = [secrets].flat().some((secret) => {
    const expected = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest();
    return given.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
  });
  if (!isSigned) throw new WebhookNotGenuine('No signature is of one of the secrets.');
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString());
}

function headerOf(headers: Headers, name: string): string {
  const value =
    'get' in headers && typeof headers.get === 'function'
      ? headers.get(name)
      : (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return [value].flat()[0] ?? '';
}
