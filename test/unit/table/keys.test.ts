import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { encodePart } from '../../../lib/shared/keyParts.ts';
import { defineEntity, entities } from '../../../lib/table/entity.ts';
import { joinKey, keyPrefix, tenantOf } from '../../../lib/table/keys.ts';
import { testProperty } from '../../support/testProperty.ts';

/**
 * Generates parts of keys that could collide. They have separators, escapes, texts that look like escapes, and lengths
 * near the limit.
 */
const tricky = fc
  .array(
    fc.constantFrom('#', '%', '~', '%23', '%7e', '23', 'a', 'ü', '\u{1f680}', '', 'x'.repeat(99), 'x'.repeat(200)),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));
const part = fc.oneof(tricky, fc.string({ unit: 'grapheme', maxLength: 300 }), fc.string({ maxLength: 5 }));
const parts = fc.array(part, { minLength: 1, maxLength: 4 });

describe('joinKey and encodePart', () => {
  testProperty(
    'make distinct keys of distinct lists of parts',
    [parts, parts],
    (a, b) => {
      expect(joinKey(a) === joinKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    },
    { numRuns: 2_000 },
  );

  testProperty(
    'allow tenantOf to return the tenant of a key',
    [
      tricky.filter((tenant) => Buffer.byteLength(encodePart(tenant)) <= 200 && !encodePart(tenant).startsWith('~')),
      parts,
    ],
    (tenant, rest) => {
      expect(tenantOf({ PK: joinKey(['T', tenant, ...rest]) })).toBe(tenant);
    },
  );

  test('make distinct keys of parts that are split differently', () => {
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

  testProperty('encode a part without separators in at most 200 bytes', [part], (text) => {
    expect(encodePart(text)).not.toContain('#');
    expect(Buffer.byteLength(encodePart(text))).toBeLessThanOrEqual(200);
  });

  test('keep a part of up to 200 bytes readable and hash a longer one', () => {
    expect(encodePart('x'.repeat(200))).toBe('x'.repeat(200));
    expect(encodePart('x'.repeat(201))).toMatch(/^~[\w-]{43}$/);
    expect(encodePart('ü'.repeat(101))).toMatch(/^~[\w-]{43}$/);
    expect(encodePart('世'.repeat(66))).toBe('世'.repeat(66));
    expect(encodePart('世'.repeat(67))).toMatch(/^~[\w-]{43}$/);
    expect(encodePart('#'.repeat(67))).toMatch(/^~[\w-]{43}$/); // The escaped text has 201 bytes, which is one too many.
    expect(encodePart('x'.repeat(201))).not.toBe(encodePart('x'.repeat(202)));
  });

  test('escape an id that looks like the hash of another id', () => {
    const hashed = encodePart('x'.repeat(300));
    expect(encodePart(hashed)).not.toBe(hashed);
  });

  test('fit the longest ids into a sort key of 1,024 bytes', () => {
    const longest = '\u{1f680}'.repeat(256);
    expect(Buffer.byteLength(joinKey([longest, longest, longest, longest, longest]))).toBeLessThanOrEqual(1_024);
  });
});

describe('keyPrefix', () => {
  testProperty(
    'ends with the separator and matches exactly the keys that continue its parts',
    [parts, parts],
    (prefix, whole) => {
      expect(keyPrefix(prefix)).toMatch(/#$/);
      const continues =
        whole.length > prefix.length && prefix.every((prefixPart, index) => prefixPart === whole[index]);
      expect(joinKey(whole).startsWith(keyPrefix(prefix))).toBe(continues);
    },
    { numRuns: 2_000 },
  );

  test('matches all its children', () => {
    fc.assert(
      fc.property(parts, parts, (prefix, rest) => {
        expect(joinKey([...prefix, ...rest]).startsWith(keyPrefix(prefix))).toBe(true);
      }),
    );
    expect(joinKey(['doc10', 'x']).startsWith(keyPrefix(['doc1']))).toBe(false);
    expect(keyPrefix([])).toBe('');
  });
});

describe('defineEntity', () => {
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

  test('begins the key with the tenant, and does not store parts of the key twice', () => {
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

  test('separates the partitions of tenants, workspaces and the service', () => {
    const scoped = (['tenant', 'workspace', 'service'] as const).map((scope) =>
      defineEntity({ ...Note.definition, type: `Test ${scope}`, scope }).partition(note as never),
    );
    expect(scoped).toEqual(['T#key_a#doc%231', 'W#key_a#doc%231', 'S#key_a#doc%231']);
  });

  test('leaves an item out of an index whose key is undefined', () => {
    expect(Note.toItem({ ...note, open: false })).not.toHaveProperty('gsi3pk');
    expect(Note.toItem({ ...note, open: false })).not.toHaveProperty('gsi3sk');
  });

  testProperty(
    'reads what was written, with the revision and without keys',
    [
      fc.record({ noteId: fc.string(), text: fc.string(), open: fc.boolean() }, { requiredKeys: ['noteId', 'open'] }),
      fc.nat(),
    ],
    (value, revision) => {
      expect(Note.fromItem(Note.toItem({ ...value, tenant: 't', document: 'd' }, revision), NOW)).toEqual({
        ...value,
        _r: revision,
      });
    },
  );

  test('does not read an expired item', () => {
    const item = (expiresAt: number) => Note.toItem({ ...note, expiresAt });
    expect(item(NOW / 1000).ttl).toBe(NOW / 1000);
    expect(Note.fromItem(item(NOW / 1000), NOW)).toBeUndefined();
    expect(Note.fromItem(item(NOW / 1000 + 1), NOW)).toMatchObject({ noteId: 'n' });
    expect(Note.toItem(note)).not.toHaveProperty('ttl');
  });

  test('throws for an item of another type or with a wrong attribute', () => {
    expect(() => Note.fromItem({ ...Note.toItem(note), _t: 'Other' }, NOW)).toThrow(
      'Expected an item of type TestNote, got Other',
    );
    expect(() => Note.fromItem({ ...Note.toItem(note), open: 'yes' }, NOW)).toThrow();
  });

  test('refuses a second entity of the same type, and lists all entities', () => {
    expect(() => defineEntity(Note.definition)).toThrow('Entity TestNote is defined twice');
    expect(entities().map(({ type }) => type)).toContain('TestNote');
  });
});
