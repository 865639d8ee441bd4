/** Returns a name in lower case without punctuation, because mistyped names often differ in case and punctuation. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Returns the name that is most similar to a text. Returns undefined if no name is similar. */
export function nearestName<N extends string>(text: string, names: readonly N[]): N | undefined {
  const plainName = plain(text);
  const [nearest] = names
    .map((name) => ({ name, edits: distance(plainName, plain(name)) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= Math.ceil(nearest.name.length / 4) ? nearest.name : undefined;
}

/** Returns the Levenshtein distance: the number of inserted, deleted and replaced characters. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_each, column) => column);
  for (const character of from) {
    let editsToLeft = Infinity;
    row = row.map((above, column, previous) => {
      const diagonal = previous[column - 1] ?? Infinity;
      editsToLeft = Math.min(editsToLeft + 1, above + 1, diagonal + (character === to[column - 1] ? 0 : 1));
      return editsToLeft;
    });
  }
  return row.at(-1) ?? 0;
}
