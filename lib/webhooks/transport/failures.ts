export interface Failure {
  readonly outcome: 'failed' | 'timeout' | 'refused';
  readonly error: string;
}

export const timeouts = {
  connecting: { outcome: 'timeout', error: 'connection not made in time' },
  waiting: { outcome: 'timeout', error: 'no answer in time' },
  reading: { outcome: 'timeout', error: 'answer not complete in time' },
} as const satisfies Record<string, Failure>;

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

const beforeRequest: ReadonlySet<string | undefined> = new Set(
  [...Object.values(refusals), timeouts.connecting, unreachable, failuresByCode.ECONNREFUSED].map(
    (failure) => failure?.error,
  ),
);

/** Whether an attempt ended before the receiver could get the request. */
export function isUnsent({ error }: { readonly error?: string }): boolean {
  return beforeRequest.has(error) || /^(DNS|TLS): /.test(error ?? '');
}

/** Our own process lacks a resource. A receiver cannot cause such an error. */
export function isInternalError({ code = '' }: NodeJS.ErrnoException): boolean {
  return ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].includes(code);
}

/** OpenSSL's codes for rejected certificates. Most codes of other TLS errors begin with `ERR_SSL_` or `ERR_TLS_`. */
const CERTIFICATE = /CERT|CRL|_CA$|^INVALID_|SELF_SIGNED|UNABLE_TO|PATH_LENGTH|HOSTNAME/;

/** Uses only the code, because the message of an error can contain addresses and the receiver's text. */
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
