const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns texts that a lenient reader takes for the same token as `token`, whose last part is base64url. */
export function otherSpellings(token: string): string[] {
  const last = token.slice(-1);
  // The last character has unused bits if the text does not end after four characters.
  const unused = [0, 0, 4, 2][token.slice(token.lastIndexOf('.') + 1).length % 4]!;
  const value = ALPHABET.indexOf(last);
  const sameBytes = Array.from({ length: 2 ** unused }, (_bits, bits) => ((value >> unused) << unused) | bits)
    .filter((other) => other !== value)
    .map((other) => `${token.slice(0, -1)}${ALPHABET[other]}`);
  return [`${token}.`, `${token}.x`, `${token}=`, `${token}!`, `${token} `, ` ${token}`, `${token}\n`, ...sameBytes];
}
