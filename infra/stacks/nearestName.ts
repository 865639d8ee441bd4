/** Removes differences that are common when somebody types a name from memory: case and punctuation. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Returns the name that is most similar to the given text, or undefined if none is similar. */
export function nearestName<N extends string>(given: string, names: readonly N[]): N | undefined {
  const plainName = plain(given);
  const [nearest] = names
    .map((name) => ({ name, far: distance(plainName, plain(name)) }))
    .sort((a, b) => a.far - b.far);
  return nearest && nearest.far <= Math.ceil(nearest.name.length / 4) ? nearest.name : undefined;
}

/** Returns the Levenshtein distance. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_each, column) => column);
  for (const character of one) {
    let left = Infinity;
    row = row.map((above, column, previous) => {
      const diagonal = previous[column - 1] ?? Infinity;
      left = Math.min(left + 1, above + 1, diagonal + (character === other[column - 1] ? 0 : 1));
      return left;
    });
  }
  return row.at(-1) ?? 0;
}
