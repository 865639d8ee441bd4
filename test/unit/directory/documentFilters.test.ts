import { describe, expect, test } from '@jest/globals';
import { matchesFilters } from '../../../lib/directory/rules/documentFilters.ts';
import type { FilterOperator } from '../../../lib/shared/filterOperators.ts';

const metadata = {
  version: 3,
  status: 'draft',
  signed: false,
  tags: ['nda', 'eu'],
  owner: { team: 'legal', id: null },
  'a.b': 1,
  none: null,
};
const meets = (key: string, operator: FilterOperator, value: unknown) =>
  matchesFilters([{ key, operator, value }], metadata);

describe('a filter on metadata', () => {
  test.each([
    ['version', '==', 3, true],
    ['version', '==', '3', false],
    ['owner', '==', { id: null, team: 'legal' }, true],
    ['none', '==', null, true],
    ['status', '!=', 'final', true],
    ['status', '!=', 'draft', false],
    ['version', '<', 4, true],
    ['version', '<', 3, false],
    ['version', '<=', 3, true],
    ['version', '>', 2, true],
    ['version', '>=', 4, false],
    ['status', '<', 'final', true],
    ['signed', '<', true, true],
    ['status', 'in', ['draft', 'final'], true],
    ['status', 'in', ['final'], false],
    ['status', 'not-in', ['final'], true],
    ['status', 'not-in', ['draft'], false],
    ['tags', 'array-contains', 'eu', true],
    ['tags', 'array-contains', 'us', false],
    ['status', 'array-contains', 'd', false],
    ['tags', 'array-contains-any', ['us', 'eu'], true],
    ['tags', 'array-contains-any', ['us'], false],
    ['owner.team', '==', 'legal', true],
    ['owner.team.x', '==', 'legal', false],
    ['a.b', '==', 1, true],
    ['tags.length', '>', 0, false],
    ['tags.0', '==', 'nda', false],
  ] as const)('compares %s %s %j and returns %s', (key, operator, value, expected) => {
    expect(meets(key, operator, value)).toBe(expected);
  });

  test.each(['==', '!=', '<', 'in', 'not-in', 'array-contains'] as const)(
    'with %s does not match a document without the field',
    (operator) => {
      expect(meets('absent', operator, ['x'])).toBe(false);
      expect(meets('constructor', operator, ['x'])).toBe(false);
      expect(matchesFilters([{ key: 'version', operator, value: 3 }], undefined)).toBe(false);
    },
  );

  test('with < or <= does not match a value of another type', () => {
    expect([meets('version', '<', '9'), meets('tags', '<', 9), meets('none', '<=', 0)]).toEqual([false, false, false]);
  });

  test('applies together with all other filters, and an empty list matches every document', () => {
    expect(
      matchesFilters(
        [
          { key: 'version', operator: '>', value: 1 },
          { key: 'status', operator: '==', value: 'final' },
        ],
        metadata,
      ),
    ).toBe(false);
    expect(matchesFilters([], undefined)).toBe(true);
  });
});
