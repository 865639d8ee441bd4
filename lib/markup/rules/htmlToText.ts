import { Tokenizer, TokenizerMode } from 'parse5';

const MAX_CHARACTERS = 256 * 1024;

const contentModes: Readonly<Record<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]>> = {
  script: TokenizerMode.SCRIPT_DATA,
  ...Object.fromEntries(['iframe', 'noembed', 'noframes', 'style', 'xmp'].map((name) => [name, TokenizerMode.RAWTEXT])),
  ...Object.fromEntries(['textarea', 'title'].map((name) => [name, TokenizerMode.RCDATA])),
};
const hidden = new Set(['iframe', 'noembed', 'noframes', 'script', 'style', 'title']);
const blocks = new Set(
  'address article blockquote dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header hr li ol p pre section table td th tr ul'.split(
    ' ',
  ),
);

/** Approximate, in linear time. Escape the text before you put it into HTML. */
export function htmlToText(html: string): string {
  const lines: string[] = [];
  let line = '';
  let isSpaced = true;
  let skipped: string | undefined;
  let preformatted = 0;
  const endLine = () => {
    lines.push(preformatted > 0 ? line : line.trimEnd());
    line = '';
    isSpaced = true;
  };
  const endBlock = () => {
    if (line.trim() !== '') endLine();
  };
  const ignore = () => undefined;
  const tokenizer = new Tokenizer(
    {},
    {
      onCharacter: ({ chars }) => {
        if (skipped !== undefined) return;
        line += chars;
        isSpaced = false;
      },
      onWhitespaceCharacter: ({ chars }) => {
        if (skipped !== undefined) return;
        if (preformatted > 0) line += chars;
        else if (!isSpaced) line += ' ';
        isSpaced = true;
      },
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
      onStartTag: ({ tagName }) => {
        const mode = Object.hasOwn(contentModes, tagName) ? contentModes[tagName] : undefined;
        if (mode !== undefined) tokenizer.state = mode;
        if (hidden.has(tagName)) skipped = tagName;
        else if (tagName === 'br') endLine();
        else if (blocks.has(tagName)) endBlock();
        if (tagName === 'pre') preformatted += 1;
      },
      onEndTag: ({ tagName }) => {
        if (tagName === skipped) skipped = undefined;
        else if (blocks.has(tagName)) endBlock();
        if (tagName === 'pre') preformatted = Math.max(0, preformatted - 1);
      },
    },
  );
  tokenizer.write(html.slice(0, MAX_CHARACTERS), true);
  return [...lines, line].join('\n').replaceAll('\u00a0', ' ');
}
