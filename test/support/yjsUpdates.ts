import fc from 'fast-check';
import { createEncoder, toUint8Array, writeAny, writeUint8, writeVarString, writeVarUint } from 'lib0/encoding';

type Id = readonly [client: number, clock: number];

/** The content of an item: the number of its kind in format 1, and the parts that follow. */
type Content = readonly [kind: number, ...parts: ContentPart[]];
type ContentPart = { readonly number: number } | { readonly text: string } | { readonly value: unknown };

/** A piece of content. Without neighbours (`origin`, `rightOrigin`), it names the type that contains it. */
export interface Item {
  readonly kind: 'item';
  readonly origin?: Id | null;
  readonly rightOrigin?: Id | null;
  /** The id of the shared type that contains the item, or the name of a root type. */
  readonly parent?: Id | string;
  readonly key?: string | null;
  readonly content: Content;
}

type Struct = Item | { readonly kind: 'gc' | 'skip'; readonly length: number };

/** The parts of an update. Those of an update that Yjs wrote are valid, but these can have any fault. */
export interface UpdateParts {
  readonly clients: readonly { readonly client: number; readonly clock: number; readonly structs: readonly Struct[] }[];
  readonly deletions?: readonly { readonly client: number; readonly ranges: readonly Id[] }[];
}

/** Encodes an update in format 1. */
export function encodeUpdate({ clients, deletions = [] }: UpdateParts): Uint8Array {
  const encoder = createEncoder();
  const write = (...numbers: readonly number[]) => {
    for (const number of numbers) writeVarUint(encoder, number);
  };
  const writeContent = (parts: readonly ContentPart[]) => {
    for (const part of parts) {
      if ('number' in part) write(part.number);
      else if ('text' in part) writeVarString(encoder, part.text);
      else writeAny(encoder, part.value as never);
    }
  };
  const writeStruct = (struct: Struct) => {
    if (struct.kind !== 'item') {
      writeUint8(encoder, struct.kind === 'gc' ? 0 : 10);
      write(struct.length);
      return;
    }
    const { origin, rightOrigin, parent = 'content', key = null, content } = struct;
    const [kind, ...parts] = content;
    writeUint8(encoder, kind | (origin ? 0x80 : 0) | (rightOrigin ? 0x40 : 0) | (key === null ? 0 : 0x20));
    if (origin) write(...origin);
    if (rightOrigin) write(...rightOrigin);
    if (!origin && !rightOrigin) {
      if (typeof parent === 'string') {
        write(1);
        writeVarString(encoder, parent);
      } else write(0, ...parent);
      if (key !== null) writeVarString(encoder, key);
    }
    writeContent(parts);
  };
  write(clients.length);
  for (const { client, clock, structs } of clients) {
    write(structs.length, client, clock);
    structs.forEach(writeStruct);
  }
  write(deletions.length);
  for (const { client, ranges } of deletions) {
    write(client, ranges.length);
    for (const range of ranges) write(...range);
  }
  return toUint8Array(encoder);
}

/** Returns the content of an item with these texts or values. */
export const contents = {
  deleted: (length: number): Content => [1, { number: length }],
  text: (text: string): Content => [4, { text }],
  format: (key: string, value: unknown): Content => [6, { text: key }, { text: JSON.stringify(value) }],
  values: (...values: readonly unknown[]): Content => [
    8,
    { number: values.length },
    ...values.map((value) => ({ value })),
  ],
};

/**
 * Generates updates that can be read as updates, but refer to anything and put any content anywhere. `ids` are the
 * client ids to which they refer.
 */
export function anyUpdate(ids: readonly number[]): fc.Arbitrary<Uint8Array> {
  const often = <T>(weight: number, usual: fc.Arbitrary<T>, ...others: readonly T[]) =>
    fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...others) });
  const client = fc.constantFrom(...ids);
  const clock = often(20, fc.nat(14), 2 ** 31, 2 ** 53 - 1);
  const length = often(12, fc.integer({ min: 1, max: 4 }), 0, 2 ** 32, 2 ** 53 - 3);
  const id = fc.tuple(client, clock);
  const text = fc.constantFrom('a', 'b', 'content', '😀', '__type', 'text');
  const json = fc.constantFrom('1', 'null', 'true', '"x"', '{"a":[1]}', '{"toString":1,"valueOf":1}');
  const value = fc.constantFrom<unknown>(
    1,
    -0,
    NaN,
    5n,
    'x',
    '😀',
    null,
    undefined,
    { p: 1 },
    [1, 2],
    Uint8Array.of(1),
  );
  const content = fc.oneof(
    length.map(contents.deleted),
    fc
      .array(json, { maxLength: 2 })
      .map((list): Content => [2, { number: list.length }, ...list.map((each) => ({ text: each }))]),
    text.map((bytes): Content => [3, { text: bytes }]),
    text.map(contents.text),
    json.map((embed): Content => [5, { text: embed }]),
    fc.tuple(text, json).map(([mark, attributes]): Content => [6, { text: mark }, { text: attributes }]),
    fc
      .tuple(fc.nat(7), text)
      .map(([type, name]): Content => [7, { number: type }, ...([3, 5].includes(type) ? [{ text: name }] : [])]),
    fc.array(value, { maxLength: 3 }).map((values) => contents.values(...values)),
  );
  const item = fc.record({
    kind: fc.constant('item' as const),
    origin: fc.option(id),
    rightOrigin: fc.option(id, { freq: 1 }),
    parent: fc.oneof(fc.constant('content'), id),
    key: fc.option(text),
    content,
  });
  const gap = fc.record({ kind: fc.constantFrom('gc' as const, 'skip' as const), length });
  const structs = fc.array(fc.oneof({ weight: 5, arbitrary: item }, { weight: 1, arbitrary: gap }), {
    minLength: 1,
    maxLength: 5,
  });
  return fc
    .record({
      clients: fc.array(fc.record({ client, clock: fc.oneof(fc.constant(0), clock), structs }), { maxLength: 3 }),
      deletions: fc.array(fc.record({ client, ranges: fc.array(fc.tuple(clock, length), { maxLength: 2 }) }), {
        maxLength: 2,
      }),
    })
    .map(({ clients, deletions }) =>
      // Otherwise, most updates with several clients would be rejected because of their order.
      encodeUpdate({ clients: clients.toSorted((a, b) => b.client - a.client), deletions }),
    );
}
