import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

export const DASHBOARD = '/_local/dashboard';
export const DEMO = '/_local/demo';
export const QUERIES = '/_local/queries';
export const RUNBOOK = '/_local/runbook';

const page = join(import.meta.dirname, 'page');
const { resolve } = createRequire(import.meta.url);

/** By the path of the page. Each function makes a page, one script with its libraries, and the styles. */
export const pageFiles: Readonly<Record<string, () => Promise<ReadonlyMap<string, PageFile>>>> = {
  [DASHBOARD]: async () =>
    filesAt(DASHBOARD, {
      html: await readFile(join(page, 'dashboard.html')),
      script: await bundledScript(join(page, 'main.ts')),
      style: Buffer.concat([
        await readFile(resolve('uplot/dist/uPlot.min.css')),
        Buffer.from('\n'),
        await readFile(join(page, 'dashboard.css')),
      ]),
    }),
  [DEMO]: async () =>
    filesAt(DEMO, {
      html: await readFile(join(page, 'demo/demo.html')),
      script: await bundledScript(join(page, 'demo/demo.ts')),
      style: await readFile(join(page, 'demo/demo.css')),
    }),
};

function filesAt(path: string, { html, script, style }: Readonly<Record<'html' | 'script' | 'style', Buffer>>) {
  return new Map([
    [path, { type: 'text/html; charset=utf-8', body: html }],
    [`${path}.js`, { type: 'text/javascript; charset=utf-8', body: script }],
    [`${path}.css`, { type: 'text/css; charset=utf-8', body: style }],
  ]);
}

async function bundledScript(entryPoint: string): Promise<Buffer> {
  // Imported on demand, because only the first request of a page needs esbuild.
  const { build } = await import('esbuild');
  const {
    outputFiles: [script],
  } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
  });
  if (!script) throw new Error(`esbuild made no script of ${entryPoint}`);
  return Buffer.from(script.contents);
}
