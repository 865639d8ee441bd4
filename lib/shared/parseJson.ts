/**
 * Undefined for a text that is not JSON. The parser's error quotes the text, which can contain credentials or data of
 * customers.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
