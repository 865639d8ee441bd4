import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Token, Tokens } from 'marked';
import { placeholders } from '../../../lib/openapi/deployment.ts';
import { html } from '../../../lib/shared/html.ts';
import { projectDir } from '../build.ts';
import { type DocsPage, pathOf, textOf } from './layout.ts';
import { render, type Resolve, titleOf, tokensOf } from './markdown.ts';
import { slugOf } from './markup.ts';

interface Guide {
  readonly name: string;
  readonly file: string;
  /** Whether each section of the second level is a page of its own. */
  readonly split?: true;
}

/** The page `/docs` lists the guides in this order. */
export const guides: readonly Guide[] = [
  { name: 'first-calls', file: 'functions/START.md' },
  { name: 'api', file: 'functions/README.md', split: true },
  { name: 'browsers', file: 'functions/LIVE.md', split: true },
  { name: 'content', file: 'functions/CONTENT.md' },
  { name: 'editors', file: 'functions/EDITORS.md' },
  { name: 'agents', file: 'functions/AGENTS.md' },
  { name: 'memory', file: 'functions/MEMORY.md' },
  { name: 'notices', file: 'functions/NOTICES.md' },
];

interface GuidePage {
  readonly guide: Guide;
  readonly name: string;
  readonly title: string;
  readonly tokens: readonly Token[];
}

/** `operationAt` returns the address of the description of an endpoint. */
export async function guidePages(operationAt: (path: string) => string | undefined): Promise<DocsPage[]> {
  const texts = await Promise.all(guides.map(({ file }) => readFile(`${projectDir}/${file}`, 'utf8')));
  const pages = guides.flatMap((guide, index) => pagesOf(guide, forDeployment(texts[index] ?? '')));
  const anchors = new Map(
    pages.flatMap(({ guide, name, tokens }) =>
      headings(tokens).map((heading) => [
        `${guide.file}#${slugOf(titleOf(heading))}`,
        pathOf(name, slugOf(titleOf(heading))),
      ]),
    ),
  );
  const files = new Map(guides.map(({ file, name }) => [file, pathOf(name)]));
  return pages.map((page) => {
    const resolve: Resolve = (href) => {
      if (/^https?:/.test(href)) return href;
      if (href.startsWith('/')) return operationAt(href);
      const [path = '', anchor] = href.split('#');
      const file = path === '' ? page.guide.file : posix.join(posix.dirname(page.guide.file), path);
      return anchor === undefined ? files.get(file) : anchors.get(`${file}#${anchor}`);
    };
    return toPage(
      page,
      pages.filter(({ guide }) => guide === page.guide),
      resolve,
    );
  });
}

function forDeployment(text: string): string {
  return text
    .replaceAll('x-svc-', `x-${placeholders.serviceName}-`)
    .replaceAll('https://api.example.com', placeholders.url);
}

function pagesOf(guide: Guide, text: string): GuidePage[] {
  const [title, ...tokens] = tokensOf(text).filter(({ type }) => type !== 'space');
  const sections: Token[][] = [[]];
  for (const token of tokens) {
    if (isHeading(token) && token.depth === 2) sections.push([]);
    sections.at(-1)?.push(token);
  }
  const [intro = [], ...rest] = sections;
  const first = { guide, name: guide.name, title: title && isHeading(title) ? titleOf(title) : guide.name };
  if (!guide.split) return [{ ...first, tokens: [...intro, ...rest.flat()] }];
  return [
    { ...first, tokens: intro },
    ...rest.map((section) => {
      const heading = titleOf(section[0] as Tokens.Heading);
      return { guide, name: `${guide.name}-${slugOf(heading)}`, title: heading, tokens: section };
    }),
  ];
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function headings(tokens: readonly Token[]): Tokens.Heading[] {
  return tokens.filter(isHeading);
}

function toPage({ guide, name, title, tokens }: GuidePage, ofGuide: readonly GuidePage[], resolve: Resolve): DocsPage {
  const isFirst = name === guide.name;
  const shown = isFirst
    ? tokens
    : tokens.slice(1).map((token) => (isHeading(token) ? { ...token, depth: token.depth - 1 } : token));
  const parts = isFirst ? ofGuide.filter((other) => other.name !== name) : [];
  const list = parts.map((part) => html`<li><a href="${pathOf(part.name)}">${part.title}</a></li>\n`);
  const anchor = isFirst ? '' : html`<a id="${slugOf(title)}"></a>\n`;
  const contents = headings(shown).filter(({ depth }) => depth <= 3);
  return {
    name,
    title,
    body: html`${anchor}${render(shown, resolve)}${list.length > 0 ? html`<h2>Sections</h2>\n<ul>\n${list}</ul>\n` : ''}`,
    contents: contents.map((heading) => ({ href: `#${slugOf(titleOf(heading))}`, title: titleOf(heading) })),
    sections: searchedSections(title, shown, resolve),
  };
}

function searchedSections(title: string, tokens: readonly Token[], resolve: Resolve): DocsPage['sections'] {
  const sections: { id?: string; title: string; tokens: Token[] }[] = [{ title, tokens: [] }];
  for (const token of tokens) {
    if (isHeading(token)) sections.push({ id: slugOf(titleOf(token)), title: titleOf(token), tokens: [] });
    else sections.at(-1)?.tokens.push(token);
  }
  return sections.map(({ tokens: own, ...section }) => ({ ...section, text: textOf(String(render(own, resolve))) }));
}
