/**
 * Returns undefined for a text that is not JSON. The parser's error would quote the text, which can contain
 * credentials.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
