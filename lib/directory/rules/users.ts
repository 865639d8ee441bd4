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

interface SearchableUser {
  readonly userId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** Whether a user is found by a free text: each of its words is a part of the name, the e-mail address or the user id, in any case. */
export function matchesUser(searchKey: string): (user: SearchableUser) => boolean {
  const words = folded(searchKey)
    .split(/\s+/)
    .filter((word) => word !== '');
  return ({ userId, name = '', email = '' }) => {
    const fields = [name, email, userId].map(folded);
    return words.every((word) => fields.some((field) => field.includes(word)));
  };
}

/** A text without differences of case and of compatible characters. */
function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
