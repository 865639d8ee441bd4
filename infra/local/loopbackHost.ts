/** The names of this machine in a Host header. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
const HTTP_PORT = 80;

/**
 * Returns whether a Host header names this machine and the server's port. This prevents DNS rebinding: an attacker lets
 * the name of a web site resolve to 127.0.0.1, so the site's pages can call local servers. The Host header then has the
 * name of the site.
 */
export function isLoopbackHost(host: string | undefined, port: number | undefined): boolean {
  const hostName = host?.toLowerCase();
  return LOOPBACK_NAMES.some((name) => hostName === `${name}:${port}` || (port === HTTP_PORT && hostName === name));
}
