import { Webhook } from 'standardwebhooks';

/** Returns the payload of an advanced delivery. Throws if the delivery is not genuine. */
export function verified(headers, body, secret) {
  return new Webhook(secret).verify(body, headers);
}

/** Returns the payload of a basic delivery, which is signed with the auth token. */
export function verifiedBasic(headers, body, authToken) {
  return new Webhook(authToken, { format: 'raw' }).verify(body, headers);
}
