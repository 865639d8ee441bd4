import { Webhook } from 'standardwebhooks';

/** The payload of an advanced delivery; throws when it is not genuine. */
export function verified(headers, body, secret) {
  return new Webhook(secret).verify(body, headers);
}

/** The payload of a basic delivery, which is signed with the auth token. */
export function verifiedBasic(headers, body, authToken) {
  return new Webhook(authToken, { format: 'raw' }).verify(body, headers);
}
