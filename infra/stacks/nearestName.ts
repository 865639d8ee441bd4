/** What makes no difference to whoever types a name from memory. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The one of some names that was probably meant by another text; undefined when none is near. */
export function nearestName<N extends string>(given: string, names: readonly N[]): N | undefined {
  const wanted = plain(given);
  const [nearest] = names.map((name) => ({ name, far: distance(wanted, plain(name)) })).sort((a, b) => a.far - b.far);
  return nearest && nearest.far <= Math.ceil(nearest.name.length / 4) ? nearest.name : undefined;
}

/** How many characters have to be put in, left out or replaced to make one text the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_each, column) => column);
  for (const [index, character] of [...one].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column++) {
      next.push(
        Math.min(next[column - 1]! + 1, row[column]! + 1, row[column - 1]! + (character === other[column - 1] ? 0 : 1)),
      );
    }
    row = next;
  }
  return row[other.length]!;
}
