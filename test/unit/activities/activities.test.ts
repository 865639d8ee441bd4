import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ActivityChange,
  changeActivity,
  featureTypes,
  isActivityEnabled,
  matchesFilter,
  NewActivity,
  requireActivityLogsEnabled,
  requireActivityLogsMutable,
  toActivity,
  toActivityResponse,
  toServiceActivity,
} from '../../../lib/activities/rules.ts';
import { changeActivityConfig } from '../../../lib/workspaces/rules/activityConfig.ts';
import { commentVerbs } from '../../../lib/workspaces/rules/groupedTriggers.ts';
import { testProperty } from '../../support/testProperty.ts';

const names = { apiKey: 'key', organizationId: 'acme' };
const fixed = { id: 'a', documentId: 'nda', createdAt: 1_700_000_000_000 };
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => value !== null);
const record = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
const orNothing = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const details = {
  changes: orNothing(fc.dictionary(fc.string(), fc.record({ from: json, to: json }, { requiredKeys: [] }))),
  entityData: orNothing(json),
  entityTargetData: orNothing(json),
  displayMessageTemplate: orNothing(fc.string({ unit: 'grapheme' })),
  displayMessageTemplateData: orNothing(record),
  actionIcon: orNothing(fc.string()),
};
const sent = fc.record({
  ...details,
  featureType: fc.constantFrom(...featureTypes),
  actionType: fc.string({ minLength: 1 }),
  actionUser: fc.record(
    { userId: fc.constantFrom('ada', 'bob'), name: fc.constant('A') },
    { requiredKeys: ['userId'] },
  ),
  targetEntityId: fc.constantFrom('t', 'u'),
});
const change = fc.record(details).filter((fields) => Object.values(fields).some((value) => value !== undefined));
const wire = (value: unknown) => JSON.stringify(value);
const parsed = (value: unknown) => NewActivity.parse(JSON.parse(wire(value)));

describe('an activity', () => {
  testProperty('is returned as it was sent', [sent], ({ actionUser, ...fields }) => {
    const response = toActivityResponse(names, toActivity(parsed({ ...fields, actionUser }), fixed));
    expect(response.actionUser).toEqual(actionUser);
    for (const [field, value] of Object.entries(fields))
      expect(wire(response[field as keyof typeof response])).toBe(wire(value));
    expect(response).toMatchObject({
      id: 'a',
      timestamp: fixed.createdAt,
      metadata: { apiKey: 'key', organizationId: 'acme', documentId: 'nda' },
    });
  });

  test('stores fields with arbitrary keys as text, so that no key is lost', () => {
    const activity = toActivity(
      parsed(
        JSON.parse(
          '{"featureType":"crdt","actionType":"x","actionUser":{"userId":"u"},"changes":{"__proto__":{"to":1}},"entityData":[{"__proto__":2}]}',
        ),
      ),
      fixed,
    );
    expect([activity.changes, activity.entityData]).toEqual(['{"__proto__":{"to":1}}', '[{"__proto__":2}]']);
    expect(wire(toActivityResponse(names, activity))).toContain(
      '"changes":{"__proto__":{"to":1}},"entityData":[{"__proto__":2}]',
    );
  });

  testProperty('keeps all fields that an update does not send', [sent, change], (fields, changes) => {
    const before = toActivity(parsed(fields), fixed);
    const after = toActivityResponse(
      names,
      changeActivity(before, ActivityChange.parse(JSON.parse(wire({ id: 'a', ...changes })))),
    );
    const setFields = Object.entries(changes).filter(([, value]) => value !== undefined);
    const unset = Object.fromEntries(setFields.map(([field]) => [field, undefined]));
    expect(wire({ ...after, ...Object.fromEntries(setFields) })).toBe(wire(after));
    expect(wire({ ...after, ...unset })).toBe(wire({ ...toActivityResponse(names, before), ...unset }));
  });

  const filter = fc.record({
    targetEntityId: orNothing(fc.constantFrom('t', 'u', 'v')),
    featureTypes: orNothing(fc.subarray([...featureTypes])),
    actionTypes: orNothing(fc.array(fc.string())),
    userId: orNothing(fc.constantFrom('ada', 'bob', 'eve')),
  });
  testProperty('matches a filter when it meets every given condition', [sent, filter], (fields, criteria) => {
    const meets =
      (!criteria.targetEntityId || criteria.targetEntityId === fields.targetEntityId) &&
      (!criteria.featureTypes || criteria.featureTypes.includes(fields.featureType)) &&
      (!criteria.actionTypes || criteria.actionTypes.includes(fields.actionType)) &&
      (!criteria.userId || criteria.userId === fields.actionUser.userId);
    return matchesFilter(criteria, toActivity(parsed(fields), fixed)) === meets;
  });

  test('fits into a DynamoDB item even at the maximum size of a request', () => {
    const object = { x: 'x'.repeat(65_536 - 8) };
    const text = 'é'.repeat(16_384);
    const id = '\u{ffff}'.repeat(512);
    const user = {
      userId: id,
      name: id,
      email: id,
      photoUrl: '\u{ffff}'.repeat(2_048),
      color: id,
      textColor: id,
      initial: id,
      type: id,
      plan: id,
    };
    const largest = parsed({
      id,
      featureType: 'custom',
      actionType: id,
      actionUser: user,
      targetEntityId: id,
      targetSubEntityId: id,
      changes: { x: { to: 'x'.repeat(65_536 - 15) } },
      entityData: object,
      entityTargetData: object,
      displayMessageTemplate: text,
      displayMessageTemplateData: object,
      actionIcon: text,
      isActivityResolverUsed: true,
    });
    const { changes, entityData, entityTargetData, displayMessageTemplateData, ...rest } = toActivity(largest, {
      ...fixed,
      documentId: id,
    });
    const open = [changes, entityData, entityTargetData, displayMessageTemplateData].map((field) =>
      Buffer.byteLength(field ?? ''),
    );
    expect(open).toEqual([65_536, 65_536, 65_536, 65_536]);
    expect(open.reduce((sum, bytes) => sum + bytes) + Buffer.byteLength(JSON.stringify(rest))).toBeLessThan(
      400 * 1024 - 10_000,
    );
  });
});

describe('toServiceActivity and isActivityEnabled', () => {
  const own = {
    featureType: 'comment',
    actionType: 'comment.add',
    actionUser: { userId: 'ada' },
    targetEntityId: 't',
  } as const;

  test('keeps the given fields', () => {
    const response = toActivityResponse(
      names,
      toServiceActivity({ ...own, entityData: { text: 'hi' }, changes: { status: { from: 1, to: 2 } } }, fixed),
    );
    expect(JSON.parse(wire(response))).toEqual({
      ...own,
      id: 'a',
      entityData: { text: 'hi' },
      changes: { status: { from: 1, to: 2 } },
      timestamp: fixed.createdAt,
      metadata: { ...names, documentId: 'nda' },
    });
  });

  test('leaves out only the fields that are too large', () => {
    const activity = toServiceActivity(
      {
        ...own,
        entityData: 'x'.repeat(70_000),
        entityTargetData: 'x'.repeat(65_534),
        changes: { x: { to: 'é'.repeat(40_000) } },
      },
      fixed,
    );
    expect([activity.entityData, activity.changes]).toEqual([undefined, undefined]);
    expect(activity.entityTargetData).toHaveLength(65_536);
  });

  test.each(Object.keys(commentVerbs) as (keyof typeof commentVerbs)[])(
    'writes an activity for %s while activity logs and its trigger are enabled',
    (verb) => {
      const seeded = changeActivityConfig(undefined, { isEnabled: true }, 0);
      expect(isActivityEnabled(seeded, verb)).toBe(true);
      expect(
        isActivityEnabled(changeActivityConfig(seeded, { triggers: { comment: { [verb]: false } } }, 0), verb),
      ).toBe(false);
      expect(isActivityEnabled(changeActivityConfig(seeded, { isEnabled: false }, 0), verb)).toBe(false);
      expect(isActivityEnabled(undefined, verb)).toBe(false);
    },
  );
});

describe('requireActivityLogsEnabled and requireActivityLogsMutable', () => {
  const refused = { status: 'FAILED_PRECONDITION' };

  test('rejects an addition unless activity logs are enabled', () => {
    expect(() => requireActivityLogsEnabled({ isEnabled: true })).not.toThrow();
    for (const config of [undefined, { isEnabled: false }])
      expect(() => requireActivityLogsEnabled(config)).toThrow(expect.objectContaining(refused));
  });

  test('rejects an update or deletion while activity logs are immutable', () => {
    for (const config of [undefined, { isEnabled: true }, { isEnabled: true, immutable: false }])
      expect(() => requireActivityLogsMutable(config)).not.toThrow();
    for (const isEnabled of [true, false])
      expect(() => requireActivityLogsMutable({ isEnabled, immutable: true })).toThrow(
        expect.objectContaining(refused),
      );
  });
});
