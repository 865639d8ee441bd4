/**
 * Limits count calls by this text. For IPv6 it is the /64 network, because a client can use all addresses of its
 * network. `sourceIp` must come from the gateway, never from a header.
 */
export function sourceOf(sourceIp: string): string {
  if (!sourceIp.includes(':')) return sourceIp;
  // An IPv4 address in IPv6 notation, such as `::ffff:192.0.2.1`.
  if (sourceIp.includes('.')) return sourceIp.slice(sourceIp.lastIndexOf(':') + 1);
  const [head = [], tail] = sourceIp.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])];
  const network = groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
