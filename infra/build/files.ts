const makers: Readonly<Record<string, () => Promise<string>>> = {
  // These modules import every endpoint, so they are imported on demand.
  'openapi.json': async () => JSON.stringify(await (await import('./reference.ts')).bundledReference()),
  'docs.json': async () => (await import('./docs/docsFile.ts')).docsFile(),
};

export function fileText(name: string): Promise<string> {
  const make = makers[name];
  if (!make) throw new Error(`There is no function that makes the file ${name}`);
  return make();
}
