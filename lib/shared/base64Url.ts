/**
 * Returns undefined if the text is not exactly the one that encodes its bytes. Otherwise a token would have several
 * spellings.
 */
export function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
