import { expect } from '@jest/globals';
import fc from 'fast-check';
import { mergePages } from '../../../lib/directory/rules/userLists.ts';
import { testProperty } from '../../support/testProperty.ts';

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const keys = fc
  .uniqueArray(fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', '\uffee', '😀'), minLength: 1, maxLength: 3 })), {
    maxLength: 12,
  })
  .map((list) => list.sort(byBytes));

testProperty(
  'pages of merged lists return every key once, in table order, with its last addition, and no more keys than requested',
  [fc.array(keys, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 5 }), fc.func(fc.nat())],
  (lists, limit, additionTime) => {
    const toRecord = (list: string[]) => (key: string) => ({ key, addedAt: additionTime(key, lists.indexOf(list)) });
    const records: { key: string; addedAt: number }[] = [];
    let after: string | undefined;
    do {
      const pages = lists.map((list) => {
        const laterKeys = list.filter((key) => after === undefined || byBytes(key, after) > 0);
        const read = laterKeys.slice(0, limit);
        return {
          records: read.map(toRecord(list)),
          next: laterKeys.length > limit ? read.at(-1) : undefined,
        };
      });
      const page = mergePages(pages, limit);
      expect(page.records.length).toBeLessThanOrEqual(limit);
      records.push(...page.records);
      after = page.next;
    } while (after !== undefined);
    const expected = [...new Set(lists.flat())].sort(byBytes).map((key) => {
      const additions = lists.filter((list) => list.includes(key)).map((list) => toRecord(list)(key).addedAt);
      return { key, addedAt: Math.max(...additions) };
    });
    expect(records).toEqual(expected);
  },
);
