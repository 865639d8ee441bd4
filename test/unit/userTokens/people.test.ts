import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PeopleField } from '../../../lib/app/rules/userRule.ts';
import { withoutAddresses } from '../../../lib/shared/addresses.ts';
import { completePeople, findStrangers, peopleIn, strangersMessage } from '../../../lib/userTokens/rules/people.ts';
import { testProperty } from '../../support/testProperty.ts';

const fields: PeopleField[] = [
  { path: 'assignedTo', holds: 'user' },
  { path: 'comments.*.to', holds: 'users' },
  { path: 'comments.*.tagged', holds: 'tagged' },
  { path: 'visibility.userIds', holds: 'userIds' },
];

describe('the users whom a request names', () => {
  test('are found in each form of field, with their positions', () => {
    const data = {
      assignedTo: { userId: 'a' },
      comments: [{ to: [{ userId: 'b' }] }, { tagged: [{ userId: 'c' }, { contact: { userId: 'd' } }] }],
      visibility: { userIds: ['e'] },
    };
    expect(peopleIn(data, fields)).toEqual([
      { at: ['assignedTo'], userId: 'a' },
      { at: ['comments', 0, 'to', 0], userId: 'b' },
      { at: ['comments', 1, 'tagged', 0], userId: 'c' },
      { at: ['comments', 1, 'tagged', 1], userId: 'd' },
      { at: ['visibility', 'userIds', 0], userId: 'e' },
    ]);
  });

  test('are refused if they are strangers and no participants', () => {
    const data = { visibility: { userIds: ['a', 'b', 'c'] } };
    const found = findStrangers(data, fields, new Set(['b', 'c']), new Set(['c']));
    expect(found).toEqual([{ at: ['visibility', 'userIds', 1], userId: 'b' }]);
    expect(strangersMessage(found)).toMatch(/^visibility\.userIds\.1 must not name users .*: b$/);
    expect(strangersMessage([])).toBeUndefined();
  });

  test('are named once in a message, at most ten', () => {
    const people = [...Array(12).keys(), 0].map((number) => ({ at: ['to'], userId: `u${number}` }));
    expect(strangersMessage(people)).toMatch(/: u0, u1, u2, u3, u4, u5, u6, u7, u8, u9 and 2 more$/);
  });

  test('get their stored profiles, also if the contact of a mention names another user', () => {
    const profiles = new Map([['a', { name: 'Ada', userId: 'ignored' }]]);
    const data = {
      assignedTo: { userId: 'a', name: 'x', own: 1 },
      comments: [{ tagged: [{ userId: 'a', contact: { userId: 'b', name: 'x' }, text: '@a', own: 1 }], text: 't' }],
    };
    const ada = { userId: 'a', name: 'Ada' };
    expect(completePeople(data, fields, profiles)).toEqual({
      assignedTo: ada,
      comments: [{ tagged: [{ userId: 'a', contact: ada, text: '@a' }], text: 't' }],
    });
    expect(completePeople({ assignedTo: { userId: 'z', name: 'x' } }, fields, profiles)).toEqual({
      assignedTo: { userId: 'z' },
    });
  });
});

describe('e-mail addresses', () => {
  test('of other users are left out of every object with a user id, and of the contact in it', () => {
    const bob = { userId: 'bob', name: 'Bob', email: 'bob@example.com' };
    const ada = { userId: 'ada', email: 'ada@example.com' };
    const answer = {
      from: bob,
      list: [ada, { ...bob, contact: { name: 'B', email: 'bob@example.com' } }],
      email: 'own',
    };
    expect(withoutAddresses(answer, 'ada')).toEqual({
      from: { userId: 'bob', name: 'Bob' },
      list: [ada, { userId: 'bob', name: 'Bob', contact: { name: 'B' } }],
      email: 'own',
    });
    expect(withoutAddresses(ada)).toEqual({ userId: 'ada' });
  });

  testProperty('are the only fields that are left out', [fc.jsonValue()], (value) => {
    const withoutAny = JSON.parse(JSON.stringify(value), (key, field: unknown) =>
      key === 'email' ? undefined : field,
    );
    const result = JSON.parse(JSON.stringify(withoutAddresses(value)), (key, field: unknown) =>
      key === 'email' ? undefined : field,
    );
    expect(result).toEqual(withoutAny);
  });
});
