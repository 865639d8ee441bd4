/** Returns the values that `make` returns for the indexes from 0 to `count` - 1. */
export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_each, index) => make(index));
