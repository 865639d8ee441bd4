import { describe, expect, it } from '@jest/globals';
import { BoundedMap } from '../../../lib/shared/boundedMap.ts';

describe('BoundedMap', () => {
  it('removes the entry that was set first when it has too many', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('c', 3);
    expect([...map]).toEqual([
      ['b', 2],
      ['c', 3],
    ]);
  });

  it('keeps an entry that was set again longer than the others', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });

  it('may contain undefined as a key', () => {
    const map = new BoundedMap<string | undefined, number>(1);
    map.set(undefined, 1).set('a', 2);
    expect([...map.keys()]).toEqual(['a']);
  });
});
