export const MAX_URL_CHARACTERS = 2_048;

/** The "port blocking" of the Fetch standard: servers of other protocols could misread a request. */
export const blockedPorts: ReadonlySet<string> = new Set(
  [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  ].map(String),
);

/**
 * Stricter than `new URL`, which removes line breaks, accepts backslashes for slashes, and reads `http:host` as
 * `http://host`.
 */
export function parseHttpUrl(text: string): URL | undefined {
  if (!/^https?:\/\/[^/\\]/i.test(text) || /[\s\p{Cc}]/u.test(text) || !text.isWellFormed()) return undefined;
  const url = URL.parse(text) ?? undefined;
  // A host with an empty label does not exist.
  return url?.hostname.replace(/\.$/, '').split('.').every(Boolean) ? url : undefined;
}

export function hasBlockedPort(url: URL): boolean {
  return blockedPorts.has(url.port);
}
