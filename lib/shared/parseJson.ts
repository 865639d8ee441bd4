/**
 * Returns the value of a JSON text, or undefined for a text that is not JSON. The error of the parser is not passed on, because it
 * quotes the text, which can contain credentials or data of customers.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
