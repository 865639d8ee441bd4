import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { Tokens } from 'marked';
import { html } from '../../../lib/shared/html.ts';
import { slugOf, trusted } from '../../build/docs/markup.ts';
import { QUERIES, RUNBOOK } from './pageFiles.ts';
import { queryPath } from './queriesPage.ts';
import { textPage } from './textPage.ts';

const projectDir = join(import.meta.dirname, '../../..');

/** By address. The runbook links to the others. */
const files: Readonly<Record<string, string>> = {
  [RUNBOOK]: 'infra/RUNBOOK.md',
  [`${RUNBOOK}/restore`]: 'infra/RESTORE.md',
  [`${RUNBOOK}/rollback`]: 'infra/ROLLBACK.md',
  [`${RUNBOOK}/deployment`]: 'infra/README.md',
  [`${RUNBOOK}/local`]: 'infra/LOCAL.md',
};

/** Returns HTML, or undefined if no page has the path. `queryNames` are the names of all saved queries. */
export async function runbookPage(path: string, queryNames: readonly string[]): Promise<string | undefined> {
  const file = Object.hasOwn(files, path) ? files[path] : undefined;
  if (file === undefined) return undefined;
  const markdown = await readFile(join(projectDir, file), 'utf8');
  return textPage(titleOf(markdown), trusted(await renderMarkdown(markdown, file, queryNames)));
}

function titleOf(markdown: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? 'Runbook';
}

/** `file` is the path of the Markdown file in this project. Relative links start there. */
export async function renderMarkdown(markdown: string, file: string, queryNames: readonly string[]): Promise<string> {
  // Imported on demand, because the start of the run does not need `marked`.
  const { Marked } = await import('marked');
  const writer = new Marked({ gfm: true });
  writer.use({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, file);
        return target === undefined ? text : String(html`<a href="${target}">${trusted(text)}</a>`);
      },
      codespan({ text }: Tokens.Codespan) {
        const target = queryTarget(text, queryNames);
        const code = html`<code>${text}</code>`;
        return String(target === undefined ? code : html`<a href="${target}">${code}</a>`);
      },
      image: () => '',
      html: ({ text }) => (text.startsWith('<!--') ? '' : String(html`${text}`)),
    },
  });
  return writer.parse(markdown.replace(/^# .+$/m, ''), { async: false });
}

/** Returns undefined for a page that the run does not serve. Its link then becomes plain text. */
function targetOf(href: string, file: string): string | undefined {
  if (href.startsWith('#') || /^https?:\/\//.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(file), path);
  const address = Object.keys(files).find((each) => files[each] === target);
  return address && (anchor === undefined ? address : `${address}#${anchor}`);
}

/** Returns the address of the saved query that a text names. A text with `<Family>` leads to the list. */
function queryTarget(text: string, queryNames: readonly string[]): string | undefined {
  const name = queryNames.find((each) => each.endsWith(`/${text}`));
  if (name !== undefined) return queryPath(name);
  const [start, ...more] = text.split(' <Family>');
  return more.length === 1 && queryNames.some((each) => each.includes(`/${start} `)) ? QUERIES : undefined;
}
