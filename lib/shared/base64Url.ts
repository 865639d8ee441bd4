/**
 * Returns the bytes of a base64url text, or undefined if the text is not exactly the one that encodes these bytes. The
 * decoder of Node ignores other characters and unused bits, so the same token would have several spellings.
 */
export function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
