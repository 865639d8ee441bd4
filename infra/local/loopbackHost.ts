/** Names of this machine that a Host header may have. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
const HTTP_PORT = 80;

/**
 * Returns whether a Host header names this machine and the port of the server. In a DNS rebinding attack, the name of a
 * web site resolves to 127.0.0.1, so its pages can call a local server. The Host header is then the name of that site.
 */
export function isLoopbackHost(host: string | undefined, port: number | undefined): boolean {
  const hostName = host?.toLowerCase();
  return LOOPBACK_NAMES.some((name) => hostName === `${name}:${port}` || (port === HTTP_PORT && hostName === name));
}
