import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AccessType, accessTypes, defaultAccessType } from '../../../lib/app/rules/access.ts';
import {
  computePosition,
  crosses,
  depthOf,
  type FolderChange,
  type FolderWithPosition,
  isSamePosition,
  isWithin,
  ownAccess,
  parentOf,
  resolveFolder,
  rootFolderId,
  splitIntoWaves,
} from '../../../lib/directory/rules/folders.ts';
import { testProperty } from '../../support/testProperty.ts';

describe('splitIntoWaves', () => {
  const requests = fc.uniqueArray(
    fc.record({
      folderId: fc.integer({ min: 0, max: 15 }).map(String),
      parentFolderId: fc.option(fc.integer({ min: 0, max: 20 }).map(String), { nil: undefined }),
    }),
    { selector: ({ folderId }) => folderId },
  );

  testProperty('returns every folder once, with parents of the same call in an earlier wave', [requests], (folders) => {
    const { waves, circular } = splitIntoWaves(folders);
    expect([...waves.flat(), ...circular].sort(byId)).toEqual([...folders].sort(byId));
    const waveOf = new Map(waves.flatMap((wave, index) => wave.map(({ folderId }) => [folderId, index] as const)));
    for (const { folderId, parentFolderId } of waves.flat()) {
      expect(waveOf.get(parentFolderId ?? '') ?? -1).toBeLessThan(waveOf.get(folderId)!);
    }
  });

  testProperty('returns exactly those folders as circular whose parents lead into a circle', [requests], (folders) => {
    const parents = new Map(folders.map(({ folderId, parentFolderId }) => [folderId, parentFolderId]));
    const endless = ({ folderId }: { folderId: string }) => {
      let ancestorId: string | undefined = folderId;
      for (let step = 0; step <= folders.length; step++)
        ancestorId = ancestorId === undefined ? undefined : parents.get(ancestorId);
      return ancestorId !== undefined && parents.has(ancestorId);
    };
    expect(splitIntoWaves(folders).circular.sort(byId)).toEqual(folders.filter(endless).sort(byId));
  });

  test('does not wait for a folder with the reserved id root', () => {
    const root = { folderId: rootFolderId, parentFolderId: rootFolderId };
    const top = { folderId: 'top', parentFolderId: rootFolderId };
    expect(splitIntoWaves([root, top])).toEqual({ waves: [[root, top]], circular: [] });
  });

  const byId = (a: { folderId: string }, b: { folderId: string }) => a.folderId.localeCompare(b.folderId);
});

const folder = (internalId: string, parent?: FolderWithPosition, accessType?: AccessType): FolderWithPosition => ({
  folderId: `the ${internalId}`,
  internalId,
  ...computePosition(parent, { internalId, accessType }),
});

test('a position has a depth and a parent, and is the same as another only if all its fields are', () => {
  const below = folder('below', folder('top'));
  expect([depthOf(below), parentOf(below), parentOf(folder('top')), below.accessFrom]).toEqual([
    2,
    'top',
    'root',
    'root',
  ]);
  expect(isSamePosition(below, { ...below })).toBe(true);
  for (const other of [
    { accessType: 'restricted' as const },
    { accessFrom: 'top' },
    { inheritAccessFromParent: false },
    { ancestors: [...below.ancestors, ...below.ancestors] },
    ...[{ folderId: 'x' }, { internalId: 'x' }, { movedAt: 1 }].map((field) => ({
      ancestors: [{ ...below.ancestors[0]!, ...field }],
    })),
  ])
    expect([other, isSamePosition(below, { ...below, ...other })]).toEqual([other, false]);
});

test('resolveFolder needs no read for a removed folder, and returns `inconsistent` for a circle, because folders were read at different times', () => {
  const [a, b] = [folder('a'), folder('b')];
  const c = folder('c', a);
  const d = folder('d', c);
  const changed = (internalId: string, kind: FolderChange['kind'] = 'changed') =>
    [internalId, { folderId: `the ${internalId}`, kind }] as const;
  for (const removed of [a, d])
    expect(resolveFolder(removed, { changes: new Map([changed('a', 'removed')]), read: new Map() })).toBe('deleted');
  const read = new Map([
    ['b', { ...b, ...computePosition(d, ownAccess(b)) }],
    ['c', { ...c, ...computePosition(b, ownAccess(c)) }],
  ]);
  expect(resolveFolder(d, { changes: new Map([changed('b'), changed('c')]), read })).toBe('inconsistent');
});

/**
 * A folder tree, and its stored items while jobs run. The model knows each folder's parent, its own access type and
 * whether it is deleted. The store has items as the code writes them.
 */
class FolderModel {
  readonly model = new Map<string, { parent: string | undefined; own: AccessType | undefined; removed: boolean }>();
  readonly stored = new Map<string, FolderWithPosition>();
  readonly changes = new Map<string, FolderChange>();

  names(): string[] {
    return [...this.model.keys()].filter((id) => this.truth(id) !== 'deleted');
  }

  truth(id: string): { ancestors: string[]; accessType: AccessType } | 'deleted' {
    const { parent, own, removed } = this.model.get(id)!;
    const above = parent === undefined ? { ancestors: [], accessType: defaultAccessType } : this.truth(parent);
    if (removed || above === 'deleted') return 'deleted';
    return { ancestors: parent === undefined ? [] : [...above.ancestors, parent], accessType: own ?? above.accessType };
  }

  resolved(id: string): FolderWithPosition | undefined {
    const read = new Map<string, FolderWithPosition | undefined>();
    for (;;) {
      const storedFolder = this.stored.get(id);
      const resolution = storedFolder ? resolveFolder(storedFolder, { changes: this.changes, read }) : 'deleted';
      if (resolution === 'inconsistent') throw new Error('The reads are inconsistent, though all are of one time');
      if (resolution === 'deleted') return undefined;
      if ('folder' in resolution) return resolution.folder;
      read.set(resolution.needs.internalId, this.stored.get(resolution.needs.internalId));
    }
  }

  add(id: string, parent: string | undefined, own: AccessType | undefined): void {
    this.model.set(id, { parent, own, removed: false });
    this.stored.set(id, folder(id, parent === undefined ? undefined : this.resolved(parent), own));
  }

  move(id: string, parent: string | undefined): void {
    if (parent !== undefined && isWithin(this.resolved(parent)!, id)) return;
    this.model.get(id)!.parent = parent;
    this.#write(id, parent, ownAccess(this.stored.get(id)!).accessType);
  }

  open(id: string, own: AccessType | undefined): void {
    this.model.get(id)!.own = own;
    this.#write(id, this.model.get(id)!.parent, own);
  }

  #write(id: string, parent: string | undefined, accessType: AccessType | undefined): void {
    this.stored.set(id, {
      ...this.stored.get(id)!,
      ...computePosition(parent === undefined ? undefined : this.resolved(parent), { internalId: id, accessType }),
    });
    this.changes.set(id, { folderId: `the ${id}`, kind: 'changed' });
  }

  remove(id: string): void {
    this.model.get(id)!.removed = true;
    this.stored.delete(id);
    this.changes.set(id, { folderId: `the ${id}`, kind: 'removed' });
  }

  /** Does what a job can do to one folder at any time: rewrites it from its stored parent, or deletes it. */
  reach(id: string): boolean {
    const stored = this.stored.get(id);
    if (!stored) return false;
    if (this.truth(id) === 'deleted') {
      // Deletions go from the top down, so the parent was deleted before.
      if (parentOf(stored) === rootFolderId || this.stored.has(parentOf(stored))) return false;
      return this.stored.delete(id);
    }
    const parent = this.stored.get(parentOf(stored));
    if (parentOf(stored) !== rootFolderId && !parent) return false;
    this.stored.set(id, { ...stored, ...computePosition(parent, ownAccess(stored)) });
    return true;
  }

  /**
   * Ends the job of a change after it has visited all folders below, from the top down. If it missed a folder, it
   * waits until the deletions have ended.
   */
  end(id: string): void {
    const kind = this.changes.get(id)?.kind;
    if (!kind) return;
    const missed = [id, ...this.#below(id)].filter(
      (folderId) => !this.stored.has(folderId) || (!this.reach(folderId) && this.truth(folderId) === 'deleted'),
    );
    if (kind === 'changed' && missed.length > 0) {
      for (const [other, change] of this.changes) if (change.kind === 'removed') this.end(other);
    }
    if (kind === 'removed') for (const removedId of this.#below(id)) this.stored.delete(removedId);
    this.changes.delete(id);
  }

  #below(id: string): string[] {
    return [...this.model]
      .filter(([, { parent }]) => parent === id)
      .flatMap(([child]) => [child, ...this.#below(child)]);
  }
}

describe('folders whose changes are only partly written', () => {
  const pick = fc.nat({ max: 999 });
  const access = fc.option(fc.constantFrom(...accessTypes), { nil: undefined });
  const add = fc.record({ do: fc.constant('add'), at: pick, to: pick, access });
  const changes = fc.array(
    fc.oneof(
      add,
      fc.record({ do: fc.constantFrom('move', 'move', 'open', 'remove'), at: pick, to: pick, access }),
      fc.record({ do: fc.constantFrom('reach', 'reach', 'end'), at: pick, to: pick, access }),
    ),
    { minLength: 10, maxLength: 40, size: 'max' },
  );
  const steps = fc.tuple(fc.array(add, { minLength: 6, maxLength: 12 }), changes).map((parts) => parts.flat());

  test('resolve to the same positions as in a model, whichever descendants are rewritten', () => {
    let resolvedFromAnother = 0;
    fc.assert(
      fc.property(steps, (sequence) => {
        const world = new FolderModel();
        for (const [index, step] of sequence.entries()) {
          const names = world.names();
          const [id, to] = [names[step.at % names.length], [undefined, ...names][step.to % (names.length + 1)]];
          if (step.do === 'add') world.add(`f${index}`, to, step.access);
          else if (step.do === 'end')
            world.end([...world.changes.keys()][step.at % Math.max(world.changes.size, 1)] ?? '');
          else if (step.do === 'reach')
            world.reach([...world.stored.keys()][step.at % Math.max(world.stored.size, 1)] ?? '');
          else if (id === undefined) continue;
          else if (step.do === 'move') world.move(id, to);
          else if (step.do === 'open') world.open(id, step.access);
          else world.remove(id);
          for (const folderId of world.model.keys()) {
            const [truth, resolved] = [world.truth(folderId), world.resolved(folderId)];
            const current = resolved
              ? { ancestors: resolved.ancestors.map(({ internalId }) => internalId), accessType: resolved.accessType }
              : 'deleted';
            // Calls `expect` only if there is a difference. One call for each folder would take longer than the rest
            // of the test.
            if (JSON.stringify(current) !== JSON.stringify(truth)) expect(current).toEqual(truth);
            if (resolved && !isSamePosition(resolved, world.stored.get(folderId)!)) resolvedFromAnother += 1;
          }
        }
      }),
      { numRuns: 400 },
    );
    // Checks that the random sequences led to many folders whose stored position was out of date.
    expect(resolvedFromAnother).toBeGreaterThan(1_000);
  });
});

testProperty(
  'a move crosses the boundary of a folder exactly if it changes what is below the folder',
  [fc.array(fc.tuple(fc.nat(7), fc.option(fc.nat(4), { nil: undefined })), { minLength: 1, maxLength: 20 }), fc.nat(4)],
  (moves, closed) => {
    const parents = new Map<number, number>();
    const above = (id: number | undefined): number[] => (id === undefined ? [] : [id, ...above(parents.get(id))]);
    const inside = () => Array.from({ length: 8 }, (_, id) => id).filter((id) => above(id).includes(closed));
    for (const [id, to] of moves) {
      if (above(to).includes(id)) continue;
      const [from, before] = [above(parents.get(id)).map(String), inside()];
      const isCrossing = crosses(String(closed), { internalId: String(id), from, to: above(to).map(String) });
      if (to === undefined) parents.delete(id);
      else parents.set(id, to);
      expect(isCrossing).toBe(inside().join() !== before.join());
    }
  },
);
