import { dirname, join, normalize } from 'node:path';

/** The files of the project that each file imports, by file. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Returns the imports of each source file, without packages. */
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
