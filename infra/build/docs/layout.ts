import { SCRIPT_MARK, STYLE_MARK } from '../../../lib/openapi/docsMarks.ts';
import { type Html, html } from '../../../lib/shared/html.ts';
import { documentHead, trusted } from './markup.ts';

/** `name` is the last part of the path below `/docs`, and empty for `/docs` itself. */
export interface DocsPage {
  readonly name: string;
  readonly title: string;
  readonly body: Html;
  readonly sections: readonly SearchedSection[];
  /** Links that the navigation shows below the entry of this page while the page is open. */
  readonly contents?: readonly { readonly href: string; readonly title: string }[];
}

export interface SearchedSection {
  /** The id of the element in the page. Undefined stands for the page as a whole. */
  readonly id?: string;
  readonly title: string;
  readonly text: string;
}

export interface NavGroup {
  readonly title: string;
  readonly links: readonly { readonly name: string; readonly title: string }[];
}

export function textOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();
}

export function pathOf(name: string, id?: string): string {
  return `/docs${name === '' ? '' : `/${name}`}${id === undefined ? '' : `#${id}`}`;
}

export function frame({ name, title, body, contents = [] }: DocsPage, nav: readonly NavGroup[]): string {
  return String(html`${documentHead(title, html`<style>${trusted(STYLE_MARK)}</style>`)}
<body>
<a class="skip" href="#docs-main">Skip to the content</a>
<header>
<a class="home" href="/docs">Documentation</a>
<search>
<label for="docs-search">Search</label>
<input id="docs-search" type="search" autocomplete="off" aria-controls="docs-found">
<p id="docs-found-count" role="status"></p>
<ul id="docs-found" aria-label="Search results" hidden></ul>
</search>
</header>
<div class="columns">
<nav aria-label="Pages">
${nav.map(
  (group) => html`<p class="group">${group.title}</p>
<ul>
${group.links.map((link) => navItem(link, link.name === name ? contents : undefined))}
</ul>
`,
)}
</nav>
<main id="docs-main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</div>
<script>${trusted(SCRIPT_MARK)}</script>
</body>
</html>
`);
}

function navItem(link: NavGroup['links'][number], contents: DocsPage['contents']): Html {
  if (!contents) return html`<li><a href="${pathOf(link.name)}">${link.title}</a></li>\n`;
  const below = contents.map(({ href, title }) => html`<li><a href="${href}">${title}</a></li>\n`);
  return html`<li><a href="${pathOf(link.name)}" aria-current="page">${link.title}</a>${below.length > 0 ? html`\n<ul>\n${below}</ul>\n` : ''}</li>\n`;
}
