import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/** The functions that make the files of assets, by file name. An asset is a public file, such as the API reference. */
const makers: Readonly<Record<string, () => Promise<string>>> = {
  // `reference.ts` is imported on demand, because it imports every endpoint.
  'openapi.json': async () => (await import('./reference.ts')).referenceText(),
  'renderer.js': () => readFile(resolve('swagger-ui-dist/swagger-ui-bundle.js'), 'utf8'),
  'renderer.css': () => readFile(resolve('swagger-ui-dist/swagger-ui.css'), 'utf8'),
};

/** Returns the text of a file that an asset contains. Throws if no function makes this file. */
export function fileText(name: string): Promise<string> {
  const make = makers[name];
  if (!make) throw new Error(`There is no function that makes the file ${name}`);
  return make();
}
