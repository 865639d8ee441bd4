/** 1e309 or more has 3 digits in its exponent, or 200 in a row. */
const LARGE_NUMBER = /\d[eE]\+?\d{3}|(?<!\d)\d{200}/;

export function findInfinity(text: string, value: unknown): (string | number)[] | undefined {
  return LARGE_NUMBER.test(text) ? pathOfInfinity(value) : undefined;
}

function pathOfInfinity(value: unknown): (string | number)[] | undefined {
  if (value === Infinity || value === -Infinity) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const path = pathOfInfinity((value as Record<string, unknown>)[key]);
    if (path) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}
