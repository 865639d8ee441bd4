/** The functions that make the files of assets, by file name. An asset is a public file, such as the API reference. */
const makers: Readonly<Record<string, () => Promise<string>>> = {
  // These modules are imported on demand, because they import every endpoint.
  'openapi.json': async () => JSON.stringify(await (await import('./reference.ts')).bundledReference()),
  'docs.json': async () => (await import('./docs/docsFile.ts')).docsFile(),
};

/** Returns the text of a file that an asset contains. Throws if no function makes this file. */
export function fileText(name: string): Promise<string> {
  const make = makers[name];
  if (!make) throw new Error(`There is no function that makes the file ${name}`);
  return make();
}
