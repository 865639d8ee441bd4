import { Marked, type Token, type Tokens } from 'marked';
import { type Html, html } from '../../../lib/shared/html.ts';
import { textOf } from './layout.ts';
import { slugOf, trusted } from './markup.ts';

/** Returns undefined if readers of the documentation cannot open the target. */
export type Resolve = (href: string) => string | undefined;

/** Neighbouring samples in different languages of this list are versions of one sample. */
export const sampleLanguages: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  js: 'Node.js',
  python: 'Python',
};

const reader = new Marked({ gfm: true });

/** Leaves out comments on lines of their own, such as the marks of generated tables. */
export function tokensOf(markdown: string): Token[] {
  return reader.lexer(markdown.replace(/^<!--.*?-->$/gms, ''));
}

export function titleOf({ text }: Tokens.Heading): string {
  return textOf(reader.parseInline(text) as string);
}

export function render(tokens: readonly Token[], resolve: Resolve): Html {
  const writer = writerFor(resolve);
  return html`${withSamples(tokens).map((group) =>
    Array.isArray(group)
      ? html`<div class="samples">\n${group.map(sampleFigure)}</div>\n`
      : trusted(writer.parser([group])),
  )}`;
}

export function renderText(markdown: string, resolve: Resolve): Html {
  return render(tokensOf(markdown), resolve);
}

function withSamples(tokens: readonly Token[]): (Token | Tokens.Code[])[] {
  const groups: (Token | Tokens.Code[])[] = [];
  for (const token of tokens.filter(({ type }) => type !== 'space')) {
    const last = groups.at(-1);
    if (!isSample(token)) groups.push(token);
    else if (Array.isArray(last) && !last.some(({ lang }) => lang === token.lang)) last.push(token);
    else groups.push([token]);
  }
  return groups.map((group) => (Array.isArray(group) && group[0] && group.length === 1 ? group[0] : group));
}

function sampleFigure({ lang = '', text }: Tokens.Code): Html {
  return html`<figure data-language="${lang}"><figcaption>${sampleLanguages[lang] ?? ''}</figcaption>${codeBlock(text)}</figure>\n`;
}

function codeBlock(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>\n`;
}

function isSample(token: Token): token is Tokens.Code {
  return token.type === 'code' && Object.hasOwn(sampleLanguages, (token as Tokens.Code).lang ?? '');
}

function writerFor(resolve: Resolve): Marked {
  const writer = new Marked({ gfm: true });
  writer.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = slugOf(textOf(reader.parseInline(text) as string));
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = resolve(href);
        return target === undefined ? text : String(html`<a href="${target}">${trusted(text)}</a>`);
      },
      code: ({ text }) => String(codeBlock(text)),
      codespan({ text }) {
        const target = resolve(text);
        const code = html`<code>${text}</code>`;
        return String(target !== undefined && text.startsWith('/') ? html`<a href="${target}">${code}</a>` : code);
      },
      table(token) {
        const cells = (tag: string, row: readonly Tokens.TableCell[]) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const head = token.header.some(({ text }) => text !== '')
          ? `<thead><tr>${cells('th', token.header).replaceAll('<th></th>', '<td></td>')}</tr></thead>`
          : '';
        const rows = token.rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n');
        return `<div class="wide" tabindex="0"><table>${head}<tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      image: () => '',
      // Shows markup as text, because descriptions in the OpenAPI document can contain XML as an example.
      html: ({ text }) => String(html`${text}`),
    },
  });
  return writer;
}
