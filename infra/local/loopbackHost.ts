import type { IncomingMessage } from 'node:http';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
const HTTP_PORT = 80;

/**
 * Undefined if the Host header is missing or repeated, or the target is a URL with another host: programs disagree
 * about which one counts.
 */
export function hostOf({ headersDistinct: { host: hosts = [] }, url = '' }: IncomingMessage): string | undefined {
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  const [host, ...others] = hosts.map((name) => name.toLowerCase());
  return others.length > 0 || (target !== undefined && target.toLowerCase() !== host) ? undefined : host;
}

/**
 * Whether a request names this machine and the server's port. A request after DNS rebinding names the attacker's web
 * site.
 */
export function isForLoopback(request: IncomingMessage): boolean {
  const [host, port] = [hostOf(request), request.socket.localPort];
  return LOOPBACK_NAMES.some((name) => host === `${name}:${port}` || (port === HTTP_PORT && host === name));
}
