interface ProfileFields {
  readonly name?: string | undefined;
  readonly initial?: string | undefined;
}

/** A stored profile with the fields that were sent over it; the initial follows the name unless it was sent. */
export function mergeProfile<P extends ProfileFields>(stored: P, sent: P): P {
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as P;
  const initial = given.initial ?? (given.name === undefined ? stored.initial : initialOf(given.name));
  return { ...stored, ...given, ...(initial !== undefined && { initial }) };
}

/** The first character of a name, as a whole grapheme, in upper case. */
function initialOf(name: string): string | undefined {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return first?.segment.toUpperCase();
}
