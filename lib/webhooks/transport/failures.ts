/** What came of a request that got no whole answer: the outcome, and what the customer is told in the log of attempts. */
export interface Failure {
  readonly outcome: 'failed' | 'timeout' | 'refused';
  readonly error: string;
}

export const timeouts = {
  connecting: { outcome: 'timeout', error: 'connection not made in time' },
  waiting: { outcome: 'timeout', error: 'no answer in time' },
  reading: { outcome: 'timeout', error: 'answer not complete in time' },
} as const satisfies Record<string, Failure>;

/** What is not even tried. */
export const refusals = {
  url: { outcome: 'refused', error: 'URL not valid' },
  port: { outcome: 'refused', error: 'port not allowed' },
  address: { outcome: 'refused', error: 'address not allowed' },
  header: { outcome: 'failed', error: 'header not sendable' },
} as const satisfies Record<string, Failure>;

const unknownName: Failure = { outcome: 'failed', error: 'DNS: name not found' };
const cutOff: Failure = { outcome: 'failed', error: 'connection closed before the answer was complete' };
const unreachable: Failure = { outcome: 'failed', error: 'no route to the host' };

const known: Readonly<Record<string, Failure>> = {
  ADDRESS_NOT_ALLOWED: refusals.address,
  DNS_ENOTFOUND: unknownName,
  DNS_ENODATA: unknownName,
  DNS_EBADNAME: unknownName,
  DNS_ETIMEOUT: { outcome: 'timeout', error: 'DNS: no answer in time' },
  ECONNREFUSED: { outcome: 'failed', error: 'connection refused' },
  ECONNRESET: cutOff,
  EPIPE: cutOff,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: timeouts.connecting,
  HPE_HEADER_OVERFLOW: { outcome: 'failed', error: 'answer has too many headers' },
  EPROTO: { outcome: 'failed', error: 'TLS: handshake failed' },
};

/** Whether an error says that our own process is out of something: no receiver can cause that. */
export function isOurFault({ code = '' }: NodeJS.ErrnoException): boolean {
  return ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].includes(code);
}

/** OpenSSL's names for certificates that are not accepted; what goes wrong in TLS itself says so in its code. */
const CERTIFICATE = /CERT|CRL|_CA$|^INVALID_|SELF_SIGNED|UNABLE_TO|PATH_LENGTH|HOSTNAME/;

/**
 * What went wrong with a connection, told from the error's code alone: messages can hold addresses, and texts that the
 * receiver chose. What has no name here is a plain `connection failed`.
 */
export function failureOf({ code = '' }: NodeJS.ErrnoException): Failure {
  const failure = known[code];
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
