import { expect, test } from '@jest/globals';
import { locationKey } from '../../../lib/content/rules/location.ts';

test('locationKey is the same for the same id, otherwise the same name, otherwise the same other fields', () => {
  const places = [
    [{ id: 7 }, { id: '7' }],
    [{ id: 0, locationName: 'Start' }, { id: 0 }],
    [
      { id: 'a', version: { id: 'v1' } },
      { id: 'a', version: { id: 'v2' }, locationName: 'new' },
    ],
    [{ id: 'a0' }],
    [{ locationName: 'a' }, { locationName: 'a', page: 3 }],
    [{ version: { id: 'a', name: 'First' } }, { version: { name: 'First', id: 'a' } }],
    [{ version: { id: 0 }, locationName: '' }, { version: { id: 0 } }],
  ];
  const keys = places.map((place) => [...new Set(place.map(locationKey))]);
  expect(keys.map(({ length }) => length)).toEqual(places.map(() => 1));
  expect(new Set(keys.flat()).size).toBe(places.length);
});
