import { dirname, join, normalize } from 'node:path';

/** File -> the files of the project that it imports. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Reads what each source file imports; packages and types of packages are left out. */
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
