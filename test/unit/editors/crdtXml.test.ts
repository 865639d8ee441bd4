import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import { encodeState, openDocument } from '../../../lib/editors/rules/yjs/document.ts';
import { readValue } from '../../../lib/editors/rules/yjs/readValue.ts';
import { findValueFault, replaceValue } from '../../../lib/editors/rules/yjs/replaceValue.ts';
import { crdtLimits } from '../../../lib/editors/rules/yjs/values.ts';
import { decodeName, encodeName } from '../../../lib/editors/rules/yjs/xmlEscapes.ts';
import { testProperty } from '../../support/testProperty.ts';
import { unicodeText } from '../../support/unicodeText.ts';

/** An XML document as a log of updates. Each replace starts from the state that the log has. */
class XmlLog {
  readonly contentKey: string;
  updates: Uint8Array[] = [];

  constructor(contentKey = 'default') {
    this.contentKey = contentKey;
  }

  open(): Y.Doc {
    return openDocument(this.updates);
  }

  replace(xml: string): Uint8Array | undefined {
    const update = replaceValue(this.open(), 'xml', this.contentKey, xml);
    if (update) this.updates.push(update);
    return update;
  }

  read(): string {
    return readValue(this.open(), 'xml', this.contentKey) as string;
  }

  /** Appends a client's edit to the log. */
  edit(change: (doc: Y.Doc) => void): void {
    const doc = this.open();
    doc.transact(() => change(doc));
    this.updates.push(encodeState(doc));
  }

  fragment(): Y.XmlFragment {
    return this.open().getXmlFragment(this.contentKey);
  }
}

const name = fc.oneof(
  fc.constantFrom(
    'paragraph',
    'heading',
    'bold',
    'italic',
    'link',
    'text',
    'linebreak',
    'x:y',
    '_x2F_',
    'UNDEFINED',
    'é',
    'a-b.c',
  ),
  fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_.-]{0,5}$/),
);
/** Characters that XML allows and that are not markup. */
const characters = unicodeText({ maxLength: 12 }).map((text) =>
  text.replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF&<>"']/g, '_'),
);
const text = fc
  .array(
    fc.oneof(
      characters,
      fc.constantFrom(
        '&amp;',
        '&lt;',
        '&gt;',
        '&quot;',
        '&apos;',
        '&#65;',
        '&#x1F600;',
        '&#13;',
        '<![CDATA[<&]]>',
        '<!-- note -->',
        '<?do it?>',
        '\n  ',
        '\r\n',
        "'",
        '"',
        '>',
        ' ',
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));
const attribute = fc
  .tuple(name, characters, fc.constantFrom('"', "'"))
  .map(([key, value, quote]) => [key, ` ${key}=${quote}${value}${quote}`] as const);
const attributes = fc
  .uniqueArray(attribute, { maxLength: 3, selector: ([key]) => key })
  .map((all) => all.map(([, written]) => written).join(''));
const { content } = fc.letrec<{ node: string; content: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.tuple(name, attributes).map(([tag, written]) => `<${tag}${written}/>`),
    fc.tuple(name, attributes, tie('content')).map(([tag, written, inner]) => `<${tag}${written} >${inner}</${tag}>`),
  ),
  content: fc.array(tie('node'), { maxLength: 4 }).map((nodes) => nodes.join('')),
}));
const xml = content.filter((written) => findValueFault('xml', written) === undefined);

describe.each(['default', 'content', 'root'])('replaceValue of XML under the content key %s', (contentKey) => {
  testProperty(
    'reads XML exactly as it was written, after any other value and after compaction',
    [fc.array(xml, { minLength: 1, maxLength: 4 })],
    (written) => {
      const log = new XmlLog(contentKey);
      for (const value of written) {
        log.replace(value);
        expect(log.read()).toBe(value);
        expect(log.replace(value)).toBeUndefined();
      }
      log.updates = [encodeState(log.open())];
      expect(log.read()).toBe(written.at(-1));
    },
    { numRuns: 80 },
  );
});

test('generated XML is mostly well-formed', () => {
  const faults = fc.sample(content, 200).map((written) => findValueFault('xml', written));
  expect(faults.filter((fault) => fault === undefined).length).toBeGreaterThan(150);
});

test('readValue returns well-formed XML for any names and texts of a client, and writing it back changes nothing', () => {
  const anything = unicodeText({ maxLength: 6 });
  fc.assert(
    fc.property(anything, anything, anything, anything, (tag, key, value, characters) => {
      const log = new XmlLog();
      log.edit((doc) => {
        const element = new Y.XmlElement(tag);
        doc.getXmlFragment('default').insert(0, [element]);
        element.setAttribute(key, value);
        const inner = new Y.XmlText();
        element.insert(0, [inner]);
        inner.insert(0, characters, { [tag || 'mark']: { a: characters } });
      });
      const read = log.read();
      expect(findValueFault('xml', read)).toBeUndefined();
      expect(log.replace(read)).toBeUndefined();
      expect(log.replace(`${read}<p></p>`)).toBeDefined();
      expect(log.read()).toBe(`${read}<p></p>`);
      expect((log.fragment().get(0) as Y.XmlElement).getAttribute(key)).toBe(value);
    }),
    { numRuns: 200 },
  );
});

test('encodeName returns a unique XML name for any name', () => {
  const names = fc.oneof(unicodeText(), fc.string({ unit: fc.constantFrom('_', 'x', '2', '5', 'F', '/', 'a') }));
  fc.assert(
    fc.property(names, (any) => {
      expect(decodeName(encodeName(any))).toBe(any);
      expect(findValueFault('xml', `<${encodeName(any)}/>`)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

describe('XML of ProseMirror and TipTap', () => {
  const marked = (doc: Y.Doc) => {
    const fragment = doc.getXmlFragment('default');
    const heading = new Y.XmlElement('heading');
    const paragraph = new Y.XmlElement('paragraph');
    fragment.insert(0, [heading, paragraph]);
    heading.setAttribute('level', 2 as unknown as string);
    heading.insert(0, [new Y.XmlText('Title')]);
    const inner = new Y.XmlText();
    paragraph.insert(0, [inner, new Y.XmlElement('hardBreak')]);
    inner.applyDelta([
      { insert: 'plain ' },
      { insert: 'both', attributes: { bold: {}, italic: {} } },
      { insert: ' link', attributes: { link: { href: 'https://a.example/?a=1&b=2', target: null } } },
    ]);
  };
  const read =
    '<heading level="2">Title</heading><paragraph>plain <bold><italic>both</italic></bold><link href="https://a.example/?a=1&amp;b=2"> link</link><hardBreak></hardBreak></paragraph>';

  test('shows marks as elements around the text and writes them back as marks', () => {
    const log = new XmlLog();
    log.edit(marked);
    expect(log.read()).toBe(read);
    expect(log.replace(read)).toBeUndefined();
    const fresh = new XmlLog();
    fresh.replace(read);
    const [heading, paragraph] = fresh.fragment().toArray() as Y.XmlElement[];
    expect(heading!.getAttribute('level')).toBe(2);
    expect((paragraph!.get(0) as Y.XmlText).toDelta()).toEqual([
      { insert: 'plain ' },
      { insert: 'both', attributes: { bold: {}, italic: {} } },
      { insert: ' link', attributes: { link: { href: 'https://a.example/?a=1&b=2' } } },
    ]);
  });

  test('reads a bigint in an attribute as a number, because JSON has no bigint', () => {
    const log = new XmlLog();
    log.replace('<p>one</p>');
    log.edit((doc) => {
      const element = doc.getXmlFragment('default').get(0) as Y.XmlElement<Record<string, any>>;
      element.setAttribute('level', 5n);
      element.setAttribute('widths', [1n, 2]);
    });
    expect(log.read()).toBe('<?attribute-types {"p":{"widths":"object"}}?><p level="5" widths="[1,2]">one</p>');
  });

  test('keeps the kinds of attributes, and attributes that XML does not show, after a replace', () => {
    const log = new XmlLog();
    log.edit(marked);
    log.replace(read.replace('level="2"', 'level="3"').replace(' link<', ' LINK<'));
    const [heading, paragraph] = log.fragment().toArray() as Y.XmlElement[];
    expect(heading!.getAttribute('level')).toBe(3);
    expect((paragraph!.get(0) as Y.XmlText).toDelta().at(-1)).toEqual({
      insert: ' LINK',
      attributes: { link: { href: 'https://a.example/?a=1&b=2', target: null } },
    });
  });

  test('reads a name as a mark or as an element according to its use in the document', () => {
    const log = new XmlLog();
    log.edit((doc) => {
      const paragraph = new Y.XmlElement('paragraph');
      doc.getXmlFragment('default').insert(0, [paragraph, new Y.XmlElement('code')]);
      const inner = new Y.XmlText();
      paragraph.insert(0, [inner]);
      inner.insert(0, 'said', { spoken: true });
    });
    expect(log.read()).toBe('<paragraph><spoken>said</spoken></paragraph><code></code>');
    log.replace('<paragraph><spoken>said</spoken> and <spoken>done</spoken></paragraph><code>x</code>');
    const [paragraph, code] = log.fragment().toArray() as Y.XmlElement[];
    expect((paragraph!.get(0) as Y.XmlText).toDelta()).toEqual([
      { insert: 'said', attributes: { spoken: true } },
      { insert: ' and ' },
      { insert: 'done', attributes: { spoken: true } },
    ]);
    expect(code!.nodeName).toBe('code');
  });

  test('keeps nodes that a replace does not change, with concurrent edits in them', () => {
    const log = new XmlLog();
    log.replace('<paragraph>one</paragraph><paragraph>two</paragraph><paragraph>three</paragraph>');
    const client = log.open();
    const [first, second, third] = client.getXmlFragment('default').toArray() as Y.XmlElement[];
    const replaced = log.replace(
      '<heading level="1">new</heading><paragraph>one</paragraph><paragraph>two and a half</paragraph><paragraph>three</paragraph>',
    )!;
    (first!.get(0) as Y.XmlText).insert(3, '!');
    (second!.get(0) as Y.XmlText).insert(0, '> ');
    third!.setAttribute('align', 'right');
    log.updates.push(encodeState(client));
    Y.applyUpdate(client, replaced);
    const merged =
      '<heading level="1">new</heading><paragraph>one!</paragraph><paragraph>&gt; two and a half</paragraph><paragraph align="right">three</paragraph>';
    expect([log.read(), readValue(client, 'xml', 'default')]).toEqual([merged, merged]);
  });

  test('stores no text for indentation and still returns it as written', () => {
    const log = new XmlLog();
    const written = '<bulletList>\n  <listItem><paragraph>a b</paragraph></listItem>\n</bulletList>\n<hr/>\n';
    log.replace(written);
    expect(log.read()).toBe(written);
    expect(
      log
        .fragment()
        .toArray()
        .map((node) => (node as Y.XmlElement).nodeName),
    ).toEqual(['bulletList', 'hr']);
    expect((log.fragment().get(0) as Y.XmlElement).toArray()).toHaveLength(1);
    log.edit((doc) => (doc.getXmlFragment('default').get(1) as Y.XmlElement).setAttribute('a', 'b'));
    expect(log.read()).toBe('<bulletList><listItem><paragraph>a b</paragraph></listItem></bulletList><hr a="b"></hr>');
  });

  test('reads several texts in a row as one text. Concurrent edits can leave such texts', () => {
    const log = new XmlLog();
    log.edit((doc) =>
      doc
        .getXmlFragment('default')
        .insert(0, [new Y.XmlText('one '), new Y.XmlText(), new Y.XmlText('two'), new Y.XmlElement('br')]),
    );
    expect(log.read()).toBe('one two<br></br>');
    log.replace('one and two<br></br>!');
    expect(log.read()).toBe('one and two<br></br>!');
  });
});

describe('types of attributes', () => {
  type Values = Record<string, unknown>;
  /** Returns the XML of a document of ProseMirror with these attributes of elements and of a mark. */
  const xmlWith = (elements: readonly Values[], mark: Values = {}) => {
    const log = new XmlLog();
    log.edit((doc) => {
      const paragraph = new Y.XmlElement('paragraph');
      doc.getXmlFragment('default').insert(0, [paragraph]);
      const inner = new Y.XmlText();
      const blocks = elements.map(() => new Y.XmlElement<Record<string, any>>('block'));
      paragraph.insert(0, [inner, ...blocks]);
      inner.insert(0, 'text', { textStyle: mark });
      for (const [index, values] of elements.entries())
        for (const [name, value] of Object.entries(values)) blocks[index]!.setAttribute(name, value);
    });
    return log.read();
  };
  /** Returns the attributes of a document like that of `xmlWith`. */
  const valuesOf = (log: XmlLog) => {
    const [inner, ...blocks] = (log.fragment().get(0) as Y.XmlElement).toArray() as [Y.XmlText, ...Y.XmlElement[]];
    return { elements: blocks.map((block) => block.getAttributes()), mark: inner.toDelta()[0].attributes.textStyle };
  };
  const copyOf = (written: string) => {
    const log = new XmlLog();
    log.replace(written);
    return log;
  };

  const word = fc.constantFrom('', 'a', '12', 'true', 'null', '{}', '[1]', '-0.5', '1e3', '"', '?>');
  const values = {
    string: word,
    number: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    boolean: fc.boolean(),
    object: fc.oneof(
      // Yjs loses a key `__proto__` inside a value when it reads an update.
      fc.array(
        fc
          .json()
          .filter((text) => !text.includes('__proto__'))
          .map((text) => JSON.parse(text) as unknown),
      ),
      fc.dictionary(word, fc.nat(), { noNullPrototype: true }),
    ),
  };
  /** The attributes of two elements, of which each has the same type in both. */
  const attributeNames = fc.constantFrom(
    'fontSize',
    'level',
    'checked',
    'colwidth',
    'id',
    '__proto',
    'a?>b',
    '\uFFFF',
    'é',
  );
  const typed = fc
    .uniqueArray(
      fc
        .constantFrom(...(['string', 'number', 'boolean', 'object'] as const))
        .chain((kind) =>
          fc.tuple(attributeNames, values[kind] as fc.Arbitrary<unknown>, values[kind] as fc.Arbitrary<unknown>),
        ),
      { selector: ([key]) => key, maxLength: 6 },
    )
    .map((all) => [0, 1].map((index) => Object.fromEntries(all.map(([key, ...two]) => [key, two[index]])) as Values));
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

  testProperty('are the same in an editor made of the XML of another', [typed, typed], (elements, [mark = {}]) => {
    const written = xmlWith(elements, mark);
    expect(findValueFault('xml', written)).toBeUndefined();
    const copy = copyOf(written);
    expect(plain(valuesOf(copy))).toEqual(plain({ elements, mark }));
    expect(copy.read()).toBe(written);
    expect(copy.replace(written)).toBeUndefined();
    return true;
  });

  test('are declared before the XML only if a new editor would store another type', () => {
    expect(xmlWith([{ level: 2, id: 'x' }])).not.toContain('<?');
    expect(xmlWith([{ level: '2', widths: [1] }], { fontSize: 12, size: '12' })).toBe(
      '<?attribute-types {"textStyle":{"fontSize":"number"},"block":{"level":"string","widths":"object"}}?>' +
        '<paragraph><textStyle fontSize="12" size="12">text</textStyle><block level="2" widths="[1]"></block></paragraph>',
    );
  });

  test('stay when the XML is written back without the declaration', () => {
    const log = copyOf(xmlWith([{ width: 12 }]));
    const bare = log.read().replace(/^<\?.*?\?>/, '');
    log.replace(bare);
    expect(log.read()).toBe(bare);
    log.replace(bare.replace('12', '14'));
    expect(valuesOf(log).elements).toEqual([{ width: 14 }]);
  });

  test('are texts in XML without a declaration, also if they look like numbers', () => {
    expect(valuesOf(copyOf('<p><textStyle>a</textStyle><block id="12"/></p>')).elements).toEqual([{ id: '12' }]);
  });

  test.each([
    '<?attribute-types [?>',
    '<?attribute-types {"block":1}?>',
    '<?attribute-types {"block":{"id":"date"}}?>',
  ])('are not changed by the malformed declaration %s', (declaration) => {
    const log = copyOf(`${declaration}<p><textStyle>a</textStyle><block id="12"/></p>`);
    expect(valuesOf(log).elements).toEqual([{ id: '12' }]);
  });
});

describe('XML of Lexical', () => {
  const paragraph =
    (children: (block: Y.XmlText) => void, type = 'paragraph') =>
    (doc: Y.Doc) => {
      const root = doc.get('root', Y.XmlText);
      const block = new Y.XmlText();
      root.insertEmbed(root.length, block);
      for (const [key, value] of [
        ['__type', type],
        ['__format', 0],
        ['__indent', 0],
        ['__dir', 'ltr'],
        ['__style', ''],
      ])
        block.setAttribute(key as string, value);
      children(block);
    };
  const span = (block: Y.XmlText, text: string, format = 0) => {
    const properties = new Y.Map<unknown>();
    block.insertEmbed(block.length, properties);
    for (const [key, value] of [
      ['__type', 'text'],
      ['__format', format],
      ['__style', ''],
      ['__mode', 0],
      ['__detail', 0],
    ])
      properties.set(key as string, value);
    block.insert(block.length, text);
  };

  test('shows blocks, formatted texts, line breaks and decorators, and writes them back unchanged', () => {
    const log = new XmlLog('root');
    log.edit(
      paragraph((block) => {
        span(block, 'Hello ');
        span(block, 'world', 1);
        const linebreak = new Y.Map<unknown>();
        block.insertEmbed(block.length, linebreak);
        linebreak.set('__type', 'linebreak');
        span(block, 'two');
        span(block, ' more');
        const image = new Y.XmlElement();
        block.insertEmbed(block.length, image);
        image.setAttribute('__type', 'image');
        image.setAttribute('__width', 10 as unknown as string);
      }),
    );
    const read =
      '<paragraph __dir="ltr">Hello <text __format="1">world</text><linebreak></linebreak>two<text> more</text><image __width="10"></image></paragraph>';
    expect(log.read()).toBe(read);
    expect(log.replace(read)).toBeUndefined();
    log.replace(
      read
        .replace('world', 'big world')
        .replace('__format="1"', '__format="3"')
        .replace('__width="10"', '__width="20"'),
    );
    const block = log.open().get('root', Y.XmlText).toDelta()[0].insert as Y.XmlText;
    const delta = block
      .toDelta()
      .map(({ insert }: { insert: unknown }) =>
        insert instanceof Y.XmlElement ? insert.getAttributes() : insert instanceof Y.Map ? insert.toJSON() : insert,
      );
    expect(delta).toEqual([
      { __type: 'text', __format: 0, __style: '', __mode: 0, __detail: 0 },
      'Hello ',
      { __type: 'text', __format: 3, __style: '', __mode: 0, __detail: 0 },
      'big world',
      { __type: 'linebreak' },
      { __type: 'text', __format: 0, __style: '', __mode: 0, __detail: 0 },
      'two',
      { __type: 'text', __format: 0, __style: '', __mode: 0, __detail: 0 },
      ' more',
      { __type: 'image', __width: 20 },
    ]);
    expect(block.getAttributes()).toEqual({ __type: 'paragraph', __format: 0, __indent: 0, __dir: 'ltr', __style: '' });
  });

  test('creates blocks and texts with their properties in a new document under `root`', () => {
    const log = new XmlLog('root');
    log.replace(
      '<heading __tag="h1">Title</heading><list __listType="bullet" __start="1"><listitem __value="1">one</listitem></list>',
    );
    const [heading, list] = log
      .open()
      .get('root', Y.XmlText)
      .toDelta()
      .map(({ insert }: { insert: Y.XmlText }) => insert) as Y.XmlText[];
    expect(heading!.getAttributes()).toEqual({ __type: 'heading', __tag: 'h1' });
    expect((heading!.toDelta()[0].insert as Y.Map<unknown>).toJSON()).toEqual({
      __type: 'text',
      __format: 0,
      __style: '',
      __mode: 0,
      __detail: 0,
    });
    expect(heading!.toDelta()[1].insert).toBe('Title');
    expect(list!.getAttributes()).toEqual({ __type: 'list', __listType: 'bullet', __start: 1 });
  });

  test('keeps concurrent edits in another text, and properties that XML does not show', () => {
    const log = new XmlLog('root');
    log.edit(
      paragraph((block) => {
        span(block, 'one');
        block.setAttribute('__state', new Y.Map([['secret', 1]]));
      }),
    );
    log.edit(paragraph((block) => span(block, 'two'), 'quote'));
    const client = log.open();
    const replaced = log.replace('<paragraph __dir="ltr">one and a half</paragraph><quote __dir="ltr">two</quote>')!;
    (client.get('root', Y.XmlText).toDelta()[1].insert as Y.XmlText).insert(4, ' three');
    log.updates.push(encodeState(client));
    Y.applyUpdate(client, replaced);
    expect(log.read()).toBe('<paragraph __dir="ltr">one and a half</paragraph><quote __dir="ltr">two three</quote>');
    expect(readValue(client, 'xml', 'root')).toBe(log.read());
    const block = log.open().get('root', Y.XmlText).toDelta()[0].insert as Y.XmlText;
    expect((block.getAttribute('__state') as unknown as Y.Map<unknown>).toJSON()).toEqual({ secret: 1 });
  });
});

describe('findValueFault for XML', () => {
  test.each([
    ['<a>', 'line 1, column 3: unclosed tag: a'],
    ['<a b="1" b="2"/>', 'line 1, column 16: duplicate attribute: b.'],
    ['&#0;', 'line 1, column 4: malformed character entity.'],
    ['\u0001', 'line 1, column 1: disallowed character.'],
    ['<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>', 'line 1, column 9: inappropriately located doctype declaration.'],
    [' <?xml version="1.0"?><a/>', 'line 1, column 7: an XML declaration must be at the start of the document.'],
    ['<a/><?xml version="1.0"?>', 'line 1, column 10: an XML declaration must be at the start of the document.'],
  ])('rejects %p', (written, fault) => {
    expect(findValueFault('xml', written)).toBe(`Data must be well-formed XML: ${fault}`);
  });

  test.each([
    '<?xml version="1.0"?>',
    "<?xml version='1.1' encoding='UTF-8' standalone='yes' ?>\n",
    '\ufeff<?xml version="1.0" encoding="windows-1251"?>',
  ])('accepts the XML declaration %j at the start, which is no content', (declaration) => {
    const written = `${declaration}<a>b</a>`;
    expect(findValueFault('xml', written)).toBeUndefined();
    const log = new XmlLog();
    log.replace(written);
    expect(log.read()).toBe(written);
    expect(log.open().getXmlFragment('default').toJSON()).toBe('<a>b</a>');
  });

  test('rejects XML above the limits of depth and elements', () => {
    expect(findValueFault('xml', '<a>'.repeat(100) + '</a>'.repeat(100))).toBeUndefined();
    expect(findValueFault('xml', '<a>'.repeat(101) + '</a>'.repeat(101))).toBe(
      'Data must not be nested deeper than 100 levels.',
    );
    expect(findValueFault('xml', '<a>'.repeat(1_000_000))).toBe('Data must not be nested deeper than 100 levels.');
    expect(findValueFault('xml', '<a/>'.repeat(crdtLimits.parts + 1))).toBe(
      'Data must not have more than 100000 elements and attributes in all.',
    );
  });
});
