import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns whether a delivery is genuine. `secret` is the signing secret of the endpoint (`whsec_...`). `body` is the unparsed
 * body of the request, as bytes or text.
 */
export function isGenuine(headers, body, secret, now = Date.now()) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (Math.abs(now / 1000 - Number(timestamp)) > 300) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
