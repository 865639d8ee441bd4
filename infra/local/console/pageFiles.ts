import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** A file for the browser. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

/** The path of the dashboard. */
export const DASHBOARD = '/_local/dashboard';

const page = join(import.meta.dirname, 'page');
const { resolve } = createRequire(import.meta.url);

/**
 * Reads the files of the dashboard and returns them by path: the page, its script with the chart library, and its styles.
 * The page loads no file from the network.
 */
export async function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const [html, script, style, libraryStyle] = await Promise.all([
    readFile(join(page, 'dashboard.html')),
    bundledScript(),
    readFile(join(page, 'dashboard.css')),
    readFile(resolve('uplot/dist/uPlot.min.css')),
  ]);
  return new Map([
    [DASHBOARD, { type: 'text/html; charset=utf-8', body: html }],
    [`${DASHBOARD}.js`, { type: 'text/javascript; charset=utf-8', body: script }],
    [
      `${DASHBOARD}.css`,
      { type: 'text/css; charset=utf-8', body: Buffer.concat([libraryStyle, Buffer.from('\n'), style]) },
    ],
  ]);
}

/** Bundles the modules of the page into one script. */
async function bundledScript(): Promise<Buffer> {
  // esbuild is imported on demand, because it starts a process.
  const { build } = await import('esbuild');
  const {
    outputFiles: [script],
  } = await build({
    entryPoints: [join(page, 'main.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
  });
  if (!script) throw new Error('esbuild made no script of the dashboard');
  return Buffer.from(script.contents);
}
