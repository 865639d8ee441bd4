import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  fillPage,
  type GroupCursor,
  type GroupPagePart,
  mergePages,
  type ReadGroup,
} from '../../../lib/directory/rules/userGroups.ts';
import { testProperty } from '../../support/testProperty.ts';

interface Group {
  readonly id: string;
  readonly members: readonly string[];
}

/**
 * Lists groups with their members, page by page. The fake store reads a limited number of groups and members at a
 * time.
 */
function pagesOf(
  groups: readonly Group[],
  limit: number,
  groupsAtOnce: number,
  membersAtOnce: number,
): { id: string; members: readonly string[] }[][] {
  const pages: { id: string; members: readonly string[] }[][] = [];
  let cursor = {} as GroupCursor | undefined;
  while (cursor) {
    const page: { id: string; members: readonly string[] }[] = [];
    let room = limit;
    while (cursor && room > 0) {
      const { after, within }: GroupCursor = cursor;
      const first: number = after === undefined ? 0 : Number(after) + 1;
      const read: ReadGroup<Group, string>[] = groups
        .slice(first, first + Math.min(groupsAtOnce, room))
        .map((group, index) => {
          const laterMembers = group.members.filter((member) => within?.groupKey !== group.id || member > within.after);
          const members = laterMembers.slice(0, Math.max(Math.min(membersAtOnce, room - 1), 1));
          return {
            group,
            internalId: group.id,
            position: String(first + index),
            members: members.map((member) => ({ member, position: member })),
            hasMore: members.length < laterMembers.length,
          };
        });
      const part: GroupPagePart<Group, string> = fillPage(read, room, cursor, page.length > 0);
      page.push(...part.groups.map(({ group, members }) => ({ id: group.id, members })));
      room = part.room;
      const last = first + read.length;
      cursor = part.next ?? (last < groups.length ? { after: String(last - 1) } : undefined);
    }
    pages.push(page);
  }
  return pages;
}

const group = fc.record({
  id: fc.string({ minLength: 1, maxLength: 3 }),
  members: fc
    .uniqueArray(fc.string({ minLength: 1, maxLength: 2 }), { maxLength: 12 })
    .map((members) => members.sort()),
});
const groups = fc
  .uniqueArray(group, { selector: ({ id }) => id, maxLength: 12 })
  .map((all) => all.sort((a, b) => (a.id < b.id ? -1 : 1)));
const size = fc.integer({ min: 1, max: 15 });

describe('listing groups with their members', () => {
  testProperty(
    'returns every group and every member once, in order, for any page size',
    [groups, size, size, size],
    (all, limit, groupsAtOnce, membersAtOnce) => {
      const entries = pagesOf(all, limit, groupsAtOnce, membersAtOnce).flat();
      const joined = new Map<string, string[]>();
      for (const { id, members } of entries) joined.set(id, [...(joined.get(id) ?? []), ...members]);
      expect([...joined]).toEqual(all.map(({ id, members }) => [id, members]));
    },
    { numRuns: 500 },
  );

  testProperty(
    'fits groups and members on a page, or returns one group with one member',
    [groups, size, size],
    (all, limit, membersAtOnce) => {
      for (const page of pagesOf(all, limit, 3, membersAtOnce)) {
        expect(page.reduce((sum, { members }) => sum + 1 + members.length, 0)).toBeLessThanOrEqual(Math.max(limit, 2));
      }
    },
  );

  test('continues inside a group after a page ended in its members, and repeats the group with the next members', () => {
    expect(
      pagesOf(
        [
          { id: 'a', members: ['1'] },
          { id: 'b', members: ['1', '2', '3', '4'] },
          { id: 'c', members: [] },
        ],
        4,
        10,
        100,
      ),
    ).toEqual([
      [
        { id: 'a', members: ['1'] },
        { id: 'b', members: ['1'] },
      ],
      [{ id: 'b', members: ['2', '3', '4'] }],
      [{ id: 'c', members: [] }],
    ]);
  });
});

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const keys = fc
  .uniqueArray(fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', '\uffee', '😀'), minLength: 1, maxLength: 3 })), {
    maxLength: 12,
  })
  .map((list) => list.sort(byBytes));

testProperty(
  'pages of merged groups return every key once, in table order, with its last addition, and no more keys than requested',
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
