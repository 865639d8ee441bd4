import { dirname, join, normalize } from 'node:path';

/** By file: the project's files that it imports. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Returns the imports of each source file. Imports of packages are left out. */
export function importsOf(sources: ReadonlyMap<string, string>): Imports {
  return new Map(
    [...sources].map(([file, text]) => {
      const specifiers = [
        ...text.matchAll(/(?:^|\n)(?:import|export)\b[^;'"]*?from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g),
      ].map(([, from, dynamic]) => (from ?? dynamic) as string);
      return [
        file,
        specifiers
          .map((specifier) => normalize(join(dirname(file), specifier)))
          .filter((target) => sources.has(target)),
      ];
    }),
  );
}
