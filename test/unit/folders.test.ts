import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deepestFolder, inWaves, placeFolder } from '../../lib/domain/folders.ts';

describe('inWaves', () => {
  const requests = fc.uniqueArray(
    fc.record({ folderId: fc.integer({ min: 0, max: 15 }).map(String), parentFolderId: fc.option(fc.integer({ min: 0, max: 20 }).map(String), { nil: undefined }) }),
    { selector: ({ folderId }) => folderId },
  );

  test('keeps every folder once, parents of the same call in an earlier wave', () => {
    fc.assert(fc.property(requests, (folders) => {
      const { waves, circular } = inWaves(folders);
      expect([...waves.flat(), ...circular].sort(byId)).toEqual([...folders].sort(byId));
      const waveOf = new Map(waves.flatMap((wave, index) => wave.map(({ folderId }) => [folderId, index] as const)));
      for (const { folderId, parentFolderId } of waves.flat()) {
        expect(waveOf.get(parentFolderId ?? '') ?? -1).toBeLessThan(waveOf.get(folderId)!);
      }
    }));
  });

  test('leaves over exactly those whose parents lead into a circle', () => {
    fc.assert(fc.property(requests, (folders) => {
      const parents = new Map(folders.map(({ folderId, parentFolderId }) => [folderId, parentFolderId]));
      const endless = ({ folderId }: { folderId: string }) => {
        let at: string | undefined = folderId;
        for (let step = 0; step <= folders.length; step++) at = at === undefined ? undefined : parents.get(at);
        return at !== undefined && parents.has(at);
      };
      expect(inWaves(folders).circular.sort(byId)).toEqual(folders.filter(endless).sort(byId));
    }));
  });

  const byId = (a: { folderId: string }, b: { folderId: string }) => a.folderId.localeCompare(b.folderId);
});

describe('placeFolder', () => {
  const parent = (depth: number) => ({
    folderId: 'p', internalId: 'ip', accessType: 'restricted' as const,
    ancestors: Array.from({ length: depth - 1 }, (_, i) => ({ folderId: `a${i}`, internalId: `ia${i}` })),
  });

  test('inherits the parent\'s access type unless it has its own', () => {
    expect(placeFolder(parent(1), undefined)).toEqual({ ancestors: [{ folderId: 'p', internalId: 'ip' }], accessType: 'restricted', inheritAccessFromParent: true });
    expect(placeFolder(parent(1), 'public')).toMatchObject({ accessType: 'public', inheritAccessFromParent: false });
    expect(placeFolder(undefined, undefined)).toEqual({ ancestors: [], accessType: 'public', inheritAccessFromParent: false });
  });

  test('refuses to go deeper than 20 (design 5)', () => {
    expect(placeFolder(parent(deepestFolder - 1), undefined)?.ancestors).toHaveLength(deepestFolder - 1);
    expect(placeFolder(parent(deepestFolder), undefined)).toBeUndefined();
  });
});
