import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import MiniSearch from 'minisearch';
import { placeholders } from '../../../lib/openapi/deployment.ts';
import type { OpenApiDocument } from '../../../lib/openapi/document.ts';
import { html } from '../../../lib/shared/html.ts';
import { projectDir } from '../build.ts';
import { bundledReference } from '../reference.ts';
import { guidePages, guides } from './guides.ts';
import { type DocsPage, frame, type NavGroup, pathOf } from './layout.ts';
import { pageOfTag, REFERENCE, referencePages } from './reference.ts';
import { type Place, searchOptions } from './searchOptions.ts';

/**
 * Pages by the last part of their path below `/docs`, which is empty for `/docs` itself. Also the styles, the script
 * and the search index.
 */
export type DocsTexts = Readonly<Record<string, string>>;

export async function docsFile(): Promise<string> {
  return JSON.stringify(await docsTexts(await bundledReference()));
}

export async function docsTexts(openApi: OpenApiDocument): Promise<DocsTexts> {
  const operationAt = (path: string) => {
    const tag = openApi.paths[path]?.post.tags[0];
    return tag === undefined ? undefined : pathOf(pageOfTag(tag), openApi.paths[path]?.post.operationId);
  };
  const own = await guidePages(operationAt);
  const reference = referencePages(openApi, (href) => (/^https?:/.test(href) ? href : operationAt(href)));
  const pages = [startPage(own, reference), ...own, ...reference];
  const split = guides
    .filter((guide) => guide.split)
    .map(({ name }) => own.filter((page) => page.name === name || page.name.startsWith(`${name}-`)));
  const nav: NavGroup[] = [
    { title: 'Guides', links: linksOf(own.filter((page) => !split.flat().includes(page))) },
    ...split.map((parts) => ({ title: parts[0]?.title ?? '', links: linksOf(parts) })),
    { title: 'Reference', links: linksOf(reference) },
  ];
  const site = join(import.meta.dirname, 'site');
  return {
    ...Object.fromEntries(pages.map((page) => [page.name, frame(page, nav)])),
    'docs.css': await readFile(join(site, 'docs.css'), 'utf8'),
    'docs.js': await script(join(site, 'docs.ts')),
    'search.json': searchIndex(pages),
  };
}

function linksOf(pages: readonly DocsPage[]): NavGroup['links'] {
  return pages.map(({ name, title }) => ({ name, title }));
}

function startPage(own: readonly DocsPage[], reference: readonly DocsPage[]): DocsPage {
  const firstPages = guides.flatMap(({ name }) => own.filter((page) => page.name === name));
  const list = (pages: readonly DocsPage[]) =>
    pages.map(({ name, title }) => html`<li><a href="${pathOf(name)}">${title}</a></li>\n`);
  return {
    name: '',
    title: 'Documentation',
    body: html`<h2>Guides</h2>
<ul>
${list(firstPages)}</ul>
<h2>Reference</h2>
<ul>
${list(reference.filter(({ name }) => name === REFERENCE))}<li><a href="/openapi.json">OpenAPI 3.1 document</a></li>
</ul>
`,
    sections: [],
  };
}

function searchIndex(pages: readonly DocsPage[]): string {
  const index = new MiniSearch<Place>(searchOptions);
  const places = pages.flatMap(({ name, title, sections }) =>
    sections.map((section): Place => ({
      id: pathOf(name, section.id),
      title: section.title,
      text: section.text.replaceAll(placeholders.serviceName, ''),
      page: title,
    })),
  );
  index.addAll([...new Map(places.map((place) => [place.id, place])).values()]);
  return JSON.stringify(index);
}

async function script(entryPoint: string): Promise<string> {
  const licence = await readFile(join(projectDir, 'node_modules/minisearch/LICENSE.txt'), 'utf8');
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    banner: { js: `/* MiniSearch\n${licence}*/` },
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}
