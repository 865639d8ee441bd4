/** The result of a request without a complete response. `error` is the reason that customers see in the attempt log. */
export interface Failure {
  readonly outcome: 'failed' | 'timeout' | 'refused';
  readonly error: string;
}

export const timeouts = {
  connecting: { outcome: 'timeout', error: 'connection not made in time' },
  waiting: { outcome: 'timeout', error: 'no answer in time' },
  reading: { outcome: 'timeout', error: 'answer not complete in time' },
} as const satisfies Record<string, Failure>;

/** The results of requests that are not sent. */
export const refusals = {
  url: { outcome: 'refused', error: 'URL not valid' },
  port: { outcome: 'refused', error: 'port not allowed' },
  address: { outcome: 'refused', error: 'address not allowed' },
  header: { outcome: 'failed', error: 'header not sendable' },
} as const satisfies Record<string, Failure>;

const unknownName: Failure = { outcome: 'failed', error: 'DNS: name not found' };
const connectionClosed: Failure = { outcome: 'failed', error: 'connection closed before the answer was complete' };
const unreachable: Failure = { outcome: 'failed', error: 'no route to the host' };

const failuresByCode: Readonly<Record<string, Failure>> = {
  ADDRESS_NOT_ALLOWED: refusals.address,
  DNS_ENOTFOUND: unknownName,
  DNS_ENODATA: unknownName,
  DNS_EBADNAME: unknownName,
  DNS_ETIMEOUT: { outcome: 'timeout', error: 'DNS: no answer in time' },
  ECONNREFUSED: { outcome: 'failed', error: 'connection refused' },
  ECONNRESET: connectionClosed,
  EPIPE: connectionClosed,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: timeouts.connecting,
  HPE_HEADER_OVERFLOW: { outcome: 'failed', error: 'answer has too many headers' },
  EPROTO: { outcome: 'failed', error: 'TLS: handshake failed' },
};

/** Returns whether an error means that our own process lacks a resource. A receiver cannot cause such an error. */
export function isInternalError({ code = '' }: NodeJS.ErrnoException): boolean {
  return ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].includes(code);
}

/** Matches OpenSSL's codes for rejected certificates. It does not match codes of other TLS errors, which contain TLS or SSL. */
const CERTIFICATE = /CERT|CRL|_CA$|^INVALID_|SELF_SIGNED|UNABLE_TO|PATH_LENGTH|HOSTNAME/;

/**
 * Returns the failure for a connection error. Uses only the code of the error, because the message can contain addresses and the
 * receiver's text. An unknown code becomes `connection failed`.
 */
export function toFailure({ code = '' }: NodeJS.ErrnoException): Failure {
  const failure = failuresByCode[code];
  if (failure) return failure;
  if (code.startsWith('DNS_')) return { outcome: 'failed', error: 'DNS: lookup failed' };
  if (code.startsWith('HPE_')) return { outcome: 'failed', error: 'answer is not HTTP/1.1' };
  const reason = code.replace(/^ERR_(SSL|TLS)_/, '');
  if (reason === code && !CERTIFICATE.test(code)) return { outcome: 'failed', error: 'connection failed' };
  return {
    outcome: 'failed',
    error: `TLS: ${reason
      .toLowerCase()
      .replaceAll('_', ' ')
      .replace(/\bcert\b/, 'certificate')}`,
  };
}
