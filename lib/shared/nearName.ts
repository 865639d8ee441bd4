const MAX_CHARACTERS = 64;

const synonyms: Readonly<Record<string, string>> = {
  docid: 'documentid',
  orgid: 'organizationid',
  clientdocid: 'documentid',
  commentannotationid: 'annotationid',
  locations: 'location',
  notificationid: 'id',
  visibilityconfig: 'visibility',
};

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

export function isSameName(one: string, other: string): boolean {
  return one.length <= MAX_CHARACTERS && plain(one) === plain(other);
}

export function isNearName(one: string, other: string): boolean {
  return one.length <= MAX_CHARACTERS && editDistance(plain(one), plain(other)) <= 2;
}

/**
 * Returns the first match: the same name in another spelling or a synonym, a name with few other letters, the longest
 * known name at the end of `name`, or the only known name that ends with `name`.
 */
export function nearName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_CHARACTERS) return undefined;
  const sent = plain(name);
  const same = known.find((candidate) => plain(candidate) === sent || plain(candidate) === synonyms[sent]);
  if (same !== undefined) return same;
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(sent, plain(candidate)) }))
    .filter(({ candidate, distance }) => distance <= Math.min(2, Math.floor(plain(candidate).length / 3)))
    .toSorted((a, b) => a.distance - b.distance)[0];
  if (near) return near.candidate;
  const inside = known.filter((candidate) => endsWithWord(name, candidate)).toSorted((a, b) => b.length - a.length)[0];
  const [only, ...others] = known.filter((candidate) => endsWithWord(candidate, name));
  return inside ?? (others.length === 0 ? only : undefined);
}

function endsWithWord(name: string, end: string): boolean {
  const first = end.charAt(0);
  return (
    name.length > end.length &&
    end.length > 1 &&
    name.endsWith(first.toUpperCase() + end.slice(1)) &&
    /\p{L}/u.test(first)
  );
}

function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          replaced,
          isSwap ? (beforePrevious[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
