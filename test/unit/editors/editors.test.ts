import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import { isDueForCompaction } from '../../../lib/editors/compaction.ts';
import { mergeUpdates } from '../../../lib/editors/editorUpdates.ts';
import type { Editor, EditorUpdate } from '../../../lib/editors/entities.ts';
import { Base64, EMPTY_UPDATE, toEditorRecord } from '../../../lib/editors/rules/editors.ts';
import { editorUpdateData } from '../../../lib/editors/rules/editorUpdatePayload.ts';
import { pack, unpack } from '../../../lib/editors/storedBytes.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

describe('pack', () => {
  test('compresses repetitive bytes, and unpack returns all bytes unchanged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3_000 }), fc.nat(3), (bytes, repeats) => {
        const all = new Uint8Array(times(repeats + 1, () => [...bytes]).flat());
        expect(unpack(pack(all))).toEqual(all);
      }),
    );
    expect(pack(new Uint8Array(100_000)).length).toBeLessThan(200);
    const random = Uint8Array.from({ length: 5_000 }, (_each, index) => Math.imul(index + 1, 0x9e3779b1) >>> 24);
    expect(pack(random).length).toBeLessThanOrEqual(random.length + 1);
  });
});

describe('Base64', () => {
  testProperty('parses encoded bytes exactly', [fc.uint8Array({ minLength: 1 })], (bytes) => {
    expect(new Uint8Array(Base64.parse(Buffer.from(bytes).toString('base64')))).toEqual(bytes);
  });

  test.each(['', ' ', 'A', 'AA', 'AAA', 'AB==', 'A===', 'AAAA\n', '-_-_', 'é===', 'AAA=A'])('rejects %j', (text) => {
    expect(Base64.safeParse(text).error?.issues[0]?.message).toBe('must be base64');
  });

  test('rejects a text that is too long before it is decoded', () => {
    expect(Base64.safeParse('A'.repeat(5_500_001)).error?.issues[0]?.code).toBe('too_big');
  });
});

describe('isDueForCompaction', () => {
  const head = (bytes?: number) =>
    ({
      snapshot: bytes === undefined ? undefined : { version: 1, blob: { id: 'b', parts: 1 }, bytes, logBytes: 1_000 },
    }) as Editor;
  const updateOf = (logBytes: number) => ({ logBytes }) as EditorUpdate;

  test('is true once for every 32 KB that the log grows', () => {
    const isDue = times(300, (index) => isDueForCompaction(head(), updateOf(index * 310), updateOf((index + 1) * 310)));
    expect(isDue.filter(Boolean)).toHaveLength(Math.floor((300 * 310) / 32_768));
  });

  test('compares the log with half of the snapshot, at least 32 KB and at most 2 MB', () => {
    const isDue = (bytes: number, weight: number) =>
      isDueForCompaction(head(bytes), updateOf(1_000), updateOf(1_000 + weight));
    expect([
      isDue(1_000, 32_767),
      isDue(1_000, 32_768),
      isDue(200_000, 99_999),
      isDue(200_000, 100_000),
      isDue(40_000_000, 1_999_999),
      isDue(40_000_000, 2_000_000),
    ]).toEqual([false, true, false, true, false, true]);
  });
});

test('mergeUpdates leaves out changes that a client already has', () => {
  const doc = new Y.Doc();
  const updates: Uint8Array[] = [];
  doc.on('update', (update: Uint8Array) => updates.push(update));
  for (const letter of 'abcdef') doc.getText('t').insert(0, letter);
  const client = new Y.Doc();
  for (const update of updates.slice(0, 3)) Y.applyUpdate(client, update);
  const missingUpdate = mergeUpdates(updates, Y.encodeStateVector(client));
  expect(missingUpdate.length).toBeLessThan(mergeUpdates(updates).length);
  Y.applyUpdate(client, missingUpdate);
  expect(client.getText('t').toJSON()).toBe('fedcba');
  expect(mergeUpdates([])).toBe(EMPTY_UPDATE);
  Y.applyUpdate(client, EMPTY_UPDATE);
  expect(client.getText('t').toJSON()).toBe('fedcba');
});

describe('toEditorRecord', () => {
  test('returns the user and session of the last change, or empty values without them', () => {
    const record = toEditorRecord('e', 'x', { changedAt: 0, changedBy: 'ada', sessionId: 's' });
    expect(record).toEqual({
      data: 'x',
      id: 'e',
      lastUpdate: '1970-01-01T00:00:00.000Z',
      lastUpdatedBy: 'ada',
      sessionId: 's',
    });
    expect(toEditorRecord('e', 'x', { changedAt: 0 })).toMatchObject({ lastUpdatedBy: '', sessionId: null });
  });

  test('returns a record whose event has no data if the data are larger than 128 KB', () => {
    const eventOf = (data: string) => editorUpdateData(toEditorRecord('e', data, { changedAt: 0 }));
    expect(eventOf('é'.repeat(65_535))).toEqual({
      crdtData: {
        id: 'e',
        data: 'é'.repeat(65_535),
        lastUpdatedBy: '',
        sessionId: null,
        lastUpdate: '1970-01-01T00:00:00.000Z',
      },
    });
    expect(eventOf('é'.repeat(65_536))).toEqual({
      truncated: true,
      crdtData: { id: 'e', lastUpdatedBy: '', sessionId: null, lastUpdate: '1970-01-01T00:00:00.000Z' },
    });
  });
});
