import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { defineEntity, entities } from '../../../lib/table/entity.ts';
import { encodePart, joinKey, keyPrefix, tenantOf } from '../../../lib/table/keys.ts';

/** Parts made to collide if anything can: separators, escapes, what escapes look like, and lengths around the limit. */
const tricky = fc
  .array(
    fc.constantFrom('#', '%', '~', '%23', '%7e', '23', 'a', 'ü', '\u{1f680}', '', 'x'.repeat(99), 'x'.repeat(200)),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));
const part = fc.oneof(tricky, fc.string({ unit: 'grapheme', maxLength: 300 }), fc.string({ maxLength: 5 }));
const parts = fc.array(part, { minLength: 1, maxLength: 4 });

describe('parts of keys', () => {
  test('design 5: distinct lists of parts give distinct keys', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(joinKey(a) === joinKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: 2_000 },
    );
  });

  test('the tenant can be had back from a key, whatever it is called', () => {
    fc.assert(
      fc.property(
        tricky.filter((tenant) => Buffer.byteLength(encodePart(tenant)) <= 200 && !encodePart(tenant).startsWith('~')),
        parts,
        (tenant, rest) => {
          expect(tenantOf({ PK: joinKey(['T', tenant, ...rest]) })).toBe(tenant);
        },
      ),
    );
  });

  test('design 5: a list does not meet another one whose parts are cut elsewhere', () => {
    fc.assert(
      fc.property(part, part, (a, b) => {
        expect(
          new Set([joinKey([a, b]), joinKey([`${a}#${b}`]), joinKey([a, '', b]), joinKey([a + b])]).size,
        ).toBeGreaterThanOrEqual(a + b === `${a}#${b}` ? 3 : 4);
      }),
    );
    expect(joinKey(['a#DOC#b'])).not.toBe(joinKey(['a', 'DOC', 'b']));
    expect(joinKey(['a%23'])).not.toBe(joinKey(['a#']));
  });

  test('design 5: an encoded part contains no separator and at most 200 bytes', () => {
    fc.assert(
      fc.property(part, (one) => {
        expect(encodePart(one)).not.toContain('#');
        expect(Buffer.byteLength(encodePart(one))).toBeLessThanOrEqual(200);
      }),
    );
  });

  test('design 5: a part of up to 200 bytes stays readable, a longer one becomes its hash', () => {
    expect(encodePart('x'.repeat(200))).toBe('x'.repeat(200));
    expect(encodePart('x'.repeat(201))).toMatch(/^~[\w-]{43}$/);
    expect(encodePart('ü'.repeat(101))).toMatch(/^~[\w-]{43}$/);
    expect(encodePart('#'.repeat(67))).toMatch(/^~[\w-]{43}$/); // 201 bytes once escaped
    expect(encodePart('x'.repeat(201))).not.toBe(encodePart('x'.repeat(202)));
  });

  test('design 5: a customer cannot choose an id that looks like the hash of another', () => {
    const hashed = encodePart('x'.repeat(300));
    expect(encodePart(hashed)).not.toBe(hashed);
  });

  test('design 5: even the longest ids fit into a sort key of 1,024 bytes', () => {
    const longest = '\u{1f680}'.repeat(256);
    expect(Buffer.byteLength(joinKey([longest, longest, longest, longest, longest]))).toBeLessThanOrEqual(1_024);
  });
});

describe('prefixes', () => {
  test('design 5: one ends with the separator, and matches exactly the keys that continue its parts', () => {
    fc.assert(
      fc.property(parts, parts, (prefix, whole) => {
        expect(keyPrefix(prefix)).toMatch(/#$/);
        const continues = whole.length > prefix.length && prefix.every((one, index) => one === whole[index]);
        expect(joinKey(whole).startsWith(keyPrefix(prefix))).toBe(continues);
      }),
      { numRuns: 2_000 },
    );
  });

  test('design 5: one matches all children of its own', () => {
    fc.assert(
      fc.property(parts, parts, (prefix, rest) => {
        expect(joinKey([...prefix, ...rest]).startsWith(keyPrefix(prefix))).toBe(true);
      }),
    );
    expect(joinKey(['doc10', 'x']).startsWith(keyPrefix(['doc1']))).toBe(false);
    expect(keyPrefix([])).toBe('');
  });
});

describe('entities', () => {
  const Note = defineEntity({
    type: 'TestNote',
    version: 2,
    scope: 'tenant',
    ownedBy: 'document',
    purpose: 'A note of these tests',
    schema: z.object({
      noteId: z.string(),
      text: z.string().optional(),
      open: z.boolean(),
      expiresAt: z.number().optional(),
    }),
    pk: (of: { tenant: string; document: string }) => [of.tenant, of.document],
    sk: (key: { noteId: string }) => ['NOTE', key.noteId],
    indexes: {
      gsi3: {
        pk: ({ open, tenant }) => (open ? [tenant, 'OPEN'] : undefined),
        sk: ({ noteId }) => [noteId],
        holds: 'open notes',
      },
    },
    expiresAt: ({ expiresAt }) => expiresAt,
  });
  const note = { tenant: 'key_a', document: 'doc#1', noteId: 'n', open: true };
  const NOW = 1_800_000_000_000;

  test('design 5: the key begins with whose it is, and what the key says is not stored twice', () => {
    expect(Note.toItem(note)).toEqual({
      PK: 'T#key_a#doc%231',
      SK: 'NOTE#n',
      _t: 'TestNote',
      _v: 2,
      _r: 1,
      noteId: 'n',
      open: true,
      gsi3pk: 'T#key_a#OPEN',
      gsi3sk: 'n',
    });
    expect(Note.key(note)).toEqual({ PK: 'T#key_a#doc%231', SK: 'NOTE#n' });
    expect(Note.partition(note)).toBe('T#key_a#doc%231');
  });

  test('design 5: tenants, workspaces and the service have partitions that cannot meet', () => {
    const scoped = (['tenant', 'workspace', 'service'] as const).map((scope) =>
      defineEntity({
        type: `Test ${scope}`,
        version: 1,
        scope,
        ownedBy: 'tenant',
        purpose: 'A scope',
        schema: z.object({}),
        pk: (of: { id: string }) => [of.id],
        sk: (_key: unknown) => ['X'],
      }).partition({ id: 'same' }),
    );
    expect(scoped).toEqual(['T#same', 'W#same', 'S#same']);
  });

  test('conventions: an index is left where its key is undefined', () => {
    expect(Note.toItem({ ...note, open: false })).not.toHaveProperty('gsi3pk');
    expect(Note.toItem({ ...note, open: false })).not.toHaveProperty('gsi3sk');
  });

  test('conventions: what was written is read, with its revision and without its keys', () => {
    fc.assert(
      fc.property(
        fc.record({ noteId: fc.string(), text: fc.string(), open: fc.boolean() }, { requiredKeys: ['noteId', 'open'] }),
        fc.nat(),
        (value, revision) => {
          expect(Note.fromItem(Note.toItem({ ...value, tenant: 't', document: 'd' }, revision), NOW)).toEqual({
            ...value,
            _r: revision,
          });
        },
      ),
    );
  });

  test('design 5: what has expired is not read', () => {
    const item = (expiresAt: number) => Note.toItem({ ...note, expiresAt });
    expect(item(NOW / 1000).ttl).toBe(NOW / 1000);
    expect(Note.fromItem(item(NOW / 1000), NOW)).toBeUndefined();
    expect(Note.fromItem(item(NOW / 1000 + 1), NOW)).toMatchObject({ noteId: 'n' });
    expect(Note.toItem(note)).not.toHaveProperty('ttl');
  });

  test('conventions: an item of another type, or one that does not meet the schema, is a fault', () => {
    expect(() => Note.fromItem({ ...Note.toItem(note), _t: 'Other' }, NOW)).toThrow(
      'Expected an item of type TestNote, got Other',
    );
    expect(() => Note.fromItem({ ...Note.toItem(note), open: 'yes' }, NOW)).toThrow();
  });

  test('conventions: a type is defined once, and every entity is known', () => {
    expect(() =>
      defineEntity({
        type: 'TestNote',
        version: 1,
        scope: 'tenant',
        ownedBy: 'tenant',
        purpose: 'x',
        schema: z.object({}),
        pk: () => [],
        sk: () => [],
      }),
    ).toThrow('Entity TestNote is defined twice');
    expect(entities().map(({ type }) => type)).toContain('TestNote');
  });
});
