import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { defaultTreeAdapter, type DefaultTreeAdapterTypes, html, parseFragment } from 'parse5';
import { allowedAttributes, type MayShowPicture } from '../../../lib/markup/rules/allowList.ts';
import { cleanMarkup, MAX_DEPTH, MAX_ELEMENTS } from '../../../lib/markup/rules/cleanMarkup.ts';
import { testProperty } from '../../support/testProperty.ts';
import { unicodeText } from '../../support/unicodeText.ts';
import { vectors } from './vectors.ts';

const mayShow: MayShowPicture = ({ hostname }) => hostname === 'ok.example';
const MAX_BYTES = 32 * 1024;
const clean = (markup: string) => cleanMarkup(markup, { mayShow, maxBytes: MAX_BYTES });
const cleaned = (markup: string) => (clean(markup) as { markup: string }).markup;

/** Returns what a browser would find in markup that the rules do not allow, for the element around it. */
function violations(markup: string, context: string): string[] {
  const around: DefaultTreeAdapterTypes.Element = defaultTreeAdapter.createElement(context, html.NS.HTML, []);
  const root = parseFragment(around, markup, {});
  const faults: string[] = [];
  const visit = (node: DefaultTreeAdapterTypes.ParentNode) => {
    for (const child of node.childNodes) {
      if (defaultTreeAdapter.isTextNode(child)) continue;
      if (!defaultTreeAdapter.isElementNode(child)) {
        faults.push(child.nodeName);
        continue;
      }
      const { tagName, namespaceURI, attrs } = child;
      if (namespaceURI !== html.NS.HTML || unsafeElements.has(tagName)) faults.push(tagName);
      for (const { name, value } of attrs) {
        if (/^on|^(?:id|name|srcdoc|srcset|formaction|action|background|ping|is)$/.test(name)) faults.push(name);
        if (['href', 'src', 'cite'].includes(name) && !/^(?:https?:\/\/|mailto:)/i.test(value)) faults.push(value);
        if (name === 'src' && !mayShow(new URL(value))) faults.push(value);
        if (name === 'style' && /url|expression|position|[\\@<]/i.test(value)) faults.push(value);
      }
      const allowed = allowedAttributes(tagName, attrs, mayShow);
      if (
        JSON.stringify(allowed?.filter(({ name }) => name !== 'rel')) !==
        JSON.stringify(attrs.filter(({ name }) => name !== 'rel'))
      )
        faults.push(`<${tagName} ${JSON.stringify(attrs)}>`);
      visit(child);
    }
  };
  visit(root);
  return faults;
}

const unsafeElements = new Set(
  'base body embed form frame html iframe input link math meta noscript object script style svg template textarea'.split(
    ' ',
  ),
);

/** Elements into which pages put the markup of a comment. */
const contexts = ['div', 'body', 'p', 'td', 'li', 'span', 'template'];

function expectSafe(markup: string): void {
  const result = clean(markup);
  if ('fault' in result) return;
  for (const context of contexts)
    expect({ markup, context, found: violations(result.markup, context) }).toEqual({ markup, context, found: [] });
  expect(clean(result.markup)).toEqual(result);
}

describe('markup of users', () => {
  test('has nothing active after the clean-up of each known attack', () => {
    for (const vector of vectors) {
      expect(clean(vector)).toHaveProperty('markup');
      expectSafe(vector);
    }
  });

  const tags =
    'a b p i u div span table tr td th tbody caption li ul ol dl dd dt h1 pre code img br hr form button select option ' +
    'svg math mtext mi mglyph annotation-xml foreignObject desc title style script noscript template textarea iframe nobr ' +
    'font ruby rt details summary plaintext frameset body html input marquee object';
  const tag = fc.constantFrom(...tags.split(' '));
  const attribute = fc.constantFrom(
    ...[
      '',
      ' onclick=alert(1)',
      ' href="javascript:alert(1)"',
      ' href="https://ok.example/"',
      ' src=x',
      ' style="color:red"',
    ],
    ...[
      ' title="</style><img src onerror=alert(1)>"',
      ' class="mention fixed"',
      ' id=x',
      ' data-id="1"',
      ' encoding="text/html"',
    ],
  );
  const piece = fc.oneof(
    fc.tuple(tag, attribute).map(([name, sent]) => `<${name}${sent}>`),
    tag.map((name) => `</${name}>`),
    fc.constantFrom(...vectors),
    fc.constantFrom(
      'x',
      '\n',
      ' ',
      '<!--',
      '-->',
      '--!>',
      '&lt;',
      '&amp',
      '<',
      '>',
      '"',
      "'",
      '\0',
      '<![CDATA[',
      ']]>',
    ),
    unicodeText({ maxLength: 5 }),
  );
  testProperty(
    'made of any pieces has nothing active after the clean-up, and a second clean-up changes nothing',
    [fc.array(piece, { maxLength: 25 })],
    (pieces) => {
      expectSafe(pieces.join(''));
    },
  );

  testProperty('keeps any text', [fc.string({ unit: 'grapheme' })], (text) => {
    const sent = text.replace(/[\0\r]/g, '');
    const escaped = sent
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('\u00a0', '&nbsp;');
    expect(cleaned(escaped)).toBe(escaped);
  });

  test.each([
    ['text', 'Tom &amp; Jerry &lt;3'],
    ['paragraphs', '<p>One <strong>two</strong> <em>three</em> <u>four</u> <s>five</s> <code>six</code><br>seven</p>'],
    [
      'a mention of Tiptap',
      '<p><span data-type="mention" class="mention" data-id="grace" data-label="Grace">@Grace</span> hi</p>',
    ],
    [
      'a mention of Quill',
      '<p><span class="mention" data-index="0" data-denotation-char="@" data-id="1" data-value="Grace"><span contenteditable="false">@Grace</span></span></p>',
    ],
    ['lists of Quill', '<ol><li data-list="bullet" class="ql-indent-1">a</li><li data-list="checked">b</li></ol>'],
    [
      'tasks of Tiptap',
      '<ul data-type="taskList"><li data-checked="true" data-type="taskItem"><div><p>a</p></div></li></ul>',
    ],
    ['code of Tiptap', '<pre><code class="language-ts">const a = 1;\n\nb();</code></pre>'],
    ['a pre that begins with an empty line', '<pre>\n\nx</pre>'],
    ['a table', '<table><tbody><tr><th colspan="2">a</th></tr><tr><td>b</td><td>c</td></tr></tbody></table>'],
    [
      'colours',
      '<p style="text-align: center"><span style="color: rgb(230, 0, 0); background-color: #ff0">x</span></p>',
    ],
    ['an own picture', '<p><img src="https://ok.example/a.png" alt="a" width="10" height="20"></p>'],
    ['a link', '<a href="https://any.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer nofollow">x</a>'],
    ['a link to a mail address', '<a href="mailto:ada@any.example" rel="noopener noreferrer nofollow">x</a>'],
    ['a mention without link', '<p>Shall we, <a>@Grace Hopper</a>?</p>'],
    ['a quote', '<blockquote><p>“Ä” – 𝒳 😀</p></blockquote><hr><h2>x</h2>'],
  ])('keeps %s', (_, markup) => {
    expect(clean(markup)).toEqual({ markup });
  });

  test.each([
    ['<p>a<script>alert(1)</script>b</p>', '<p>ab</p>'],
    ['<p>a<style>p { color: red }</style>b<!-- c --></p>', '<p>ab</p>'],
    ['<section><form><p>a</p></form></section>', '<p>a</p>'],
    ['<a href="javascript:alert(1)">a</a>', '<a>a</a>'],
    ['<p>a<img src="https://evil.example/a.png" alt="b">c</p>', '<p>ac</p>'],
    [
      '<a href=" https://any.example " rel="opener">a</a>',
      '<a href="https://any.example" rel="noopener noreferrer nofollow">a</a>',
    ],
    ['<p style="COLOR: Red !important; color:red; position:fixed">a</p>', '<p style="color: red">a</p>'],
    ['<p class="mention fixed">a', '<p class="mention">a</p>'],
    ['&quot;&hellip;&#x27;', '"…\''],
  ])('%s becomes %s', (sent, expected) => {
    expect(cleaned(sent)).toBe(expected);
  });

  const repeat = (piece: string) => piece.repeat(MAX_BYTES / piece.length);
  test.each([
    ['<div>', repeat('<div>')],
    ['<b>', repeat('<b>')],
    ['<table><td>', repeat('<table><td>')],
    ['<svg><g>', repeat('<svg><g>')],
    ['<br>', '<br>'.repeat(MAX_ELEMENTS + 1)],
    [
      'formatting that each paragraph repeats',
      `<p>${Array.from({ length: 90 }, (_, i) => `<b title=${i}>`).join('')}</p>${'<p>x</p>'.repeat(3_000)}`,
    ],
    ['one level too many', '<div>'.repeat(MAX_DEPTH + 1)],
    ['too many bytes', 'x'.repeat(MAX_BYTES + 1)],
    ['too many bytes after the clean-up', '<'.repeat(MAX_BYTES)],
  ])('is refused with %s', (_, markup) => {
    expect(clean(markup)).toEqual({ fault: expect.stringMatching(/^must be/) });
  });

  test('takes the largest number of levels', () => {
    const nested = `${'<div>'.repeat(MAX_DEPTH)}x${'</div>'.repeat(MAX_DEPTH)}`;
    expect(clean(nested)).toEqual({ markup: nested });
  });
});
