import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** Generates a text of one code point. Never generates a surrogate. */
export const codePoint = fc.nat({ max: 0x10ffff - SURROGATES }).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (text) => {
    const code = typeof text === 'string' && text.isWellFormed() ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('This is not one code point');
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);

/**
 * Generates the same texts as `fc.string` with the unit `binary`. That unit fills a map with all 1,112,064 code points,
 * which takes a second in each test file.
 */
export function unicodeText(constraints: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ unit: codePoint, ...constraints });
}
