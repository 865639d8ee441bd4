import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/** How the files are made that assets read, by their names. */
const makers: Readonly<Record<string, () => Promise<string>>> = {
  // Only when it is wanted: it imports every endpoint.
  'openapi.json': async () => (await import('./reference.ts')).referenceText(),
  'renderer.js': () => readFile(resolve('swagger-ui-dist/swagger-ui-bundle.js'), 'utf8'),
  'renderer.css': () => readFile(resolve('swagger-ui-dist/swagger-ui.css'), 'utf8'),
};

/** The text of a file that an asset reads. */
export function fileText(name: string): Promise<string> {
  const make = makers[name];
  if (!make) throw new Error(`Nothing makes the file ${name}`);
  return make();
}
