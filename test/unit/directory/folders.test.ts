import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AccessType, accessTypes, defaultAccessType } from '../../../lib/directory/rules/access.ts';
import {
  deepestFolder,
  depthOf,
  type FolderChange,
  inWaves,
  liesWithin,
  ownAccess,
  parentOf,
  type PlacedFolder,
  placeFolder,
  resolveFolder,
  rootFolderId,
  samePosition,
} from '../../../lib/directory/rules/folders.ts';

describe('inWaves', () => {
  const requests = fc.uniqueArray(
    fc.record({
      folderId: fc.integer({ min: 0, max: 15 }).map(String),
      parentFolderId: fc.option(fc.integer({ min: 0, max: 20 }).map(String), { nil: undefined }),
    }),
    { selector: ({ folderId }) => folderId },
  );

  test('keeps every folder once, parents of the same call in an earlier wave', () => {
    fc.assert(
      fc.property(requests, (folders) => {
        const { waves, circular } = inWaves(folders);
        expect([...waves.flat(), ...circular].sort(byId)).toEqual([...folders].sort(byId));
        const waveOf = new Map(waves.flatMap((wave, index) => wave.map(({ folderId }) => [folderId, index] as const)));
        for (const { folderId, parentFolderId } of waves.flat()) {
          expect(waveOf.get(parentFolderId ?? '') ?? -1).toBeLessThan(waveOf.get(folderId)!);
        }
      }),
    );
  });

  test('leaves over exactly those whose parents lead into a circle', () => {
    fc.assert(
      fc.property(requests, (folders) => {
        const parents = new Map(folders.map(({ folderId, parentFolderId }) => [folderId, parentFolderId]));
        const endless = ({ folderId }: { folderId: string }) => {
          let at: string | undefined = folderId;
          for (let step = 0; step <= folders.length; step++) at = at === undefined ? undefined : parents.get(at);
          return at !== undefined && parents.has(at);
        };
        expect(inWaves(folders).circular.sort(byId)).toEqual(folders.filter(endless).sort(byId));
      }),
    );
  });

  const byId = (a: { folderId: string }, b: { folderId: string }) => a.folderId.localeCompare(b.folderId);
});

const folder = (internalId: string, parent?: PlacedFolder, accessType?: AccessType): PlacedFolder => ({
  folderId: `the ${internalId}`,
  internalId,
  ...placeFolder(parent, { internalId, accessType }),
});

describe('placeFolder', () => {
  const [top, restricted] = [folder('top'), folder('restricted', undefined, 'restricted')];

  test("inherits the parent's access type, at the top the default, unless it has its own", () => {
    expect(placeFolder(restricted, { internalId: 'new', accessType: undefined })).toEqual({
      ancestors: [{ folderId: 'the restricted', internalId: 'restricted' }],
      accessType: 'restricted',
      accessFrom: 'restricted',
      inheritAccessFromParent: true,
    });
    expect(placeFolder(restricted, { internalId: 'new', accessType: 'public' })).toMatchObject({
      accessType: 'public',
      accessFrom: 'new',
      inheritAccessFromParent: false,
    });
    expect(placeFolder(undefined, { internalId: 'new', accessType: undefined })).toEqual({
      ancestors: [],
      accessType: 'public',
      accessFrom: 'root',
      inheritAccessFromParent: true,
    });
    expect(placeFolder(top, { internalId: 'new', accessType: undefined })).toMatchObject({
      accessType: 'public',
      accessFrom: 'root',
    });
  });

  test('is one level below its parent; a folder lies within itself and those above it', () => {
    const below = folder('below', restricted);
    expect([depthOf(restricted), depthOf(below)]).toEqual([1, 2]);
    expect([parentOf(restricted), parentOf(below)]).toEqual([rootFolderId, 'restricted']);
    expect([liesWithin(below, 'below'), liesWithin(below, 'restricted'), liesWithin(restricted, 'below')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('gives a stored folder the same place again from what it says of its own access', () => {
    for (const one of [top, restricted, folder('below', restricted), folder('own', restricted, 'public')]) {
      const parent = [top, restricted].find(({ internalId }) => internalId === parentOf(one));
      expect(samePosition(placeFolder(parent, ownAccess(one)), one)).toBe(true);
    }
    expect(samePosition(top, restricted)).toBe(false);
  });
});

describe('resolveFolder', () => {
  const [a, b] = [folder('a', undefined, 'restricted'), folder('b')];
  const c = folder('c', a);
  const d = folder('d', c);
  const moved = { ...c, ...placeFolder(b, ownAccess(c)) };
  const changed = (internalId: string, kind: FolderChange['kind'] = 'changed') =>
    [internalId, { folderId: `the ${internalId}`, kind }] as const;

  test('leaves a folder as it is when none above it is changed', () => {
    expect(resolveFolder(d, { changes: new Map([changed('b'), changed('d')]), read: new Map() })).toEqual({
      folder: d,
    });
  });

  test('asks for the deepest changed folder, and puts what lies below it under it', () => {
    const changes = new Map([changed('c')]);
    expect(resolveFolder(d, { changes, read: new Map() })).toEqual({ needs: { folderId: 'the c', internalId: 'c' } });
    expect(resolveFolder(d, { changes, read: new Map([['c', moved]]) })).toEqual({
      folder: { ...d, ...placeFolder(moved, ownAccess(d)) },
    });
  });

  test('is gone with a folder above it, with one that is not there any more, and itself', () => {
    expect(resolveFolder(d, { changes: new Map([changed('a', 'removed')]), read: new Map() })).toBe('gone');
    expect(resolveFolder(a, { changes: new Map([changed('a', 'removed')]), read: new Map() })).toBe('gone');
    expect(resolveFolder(d, { changes: new Map([changed('c')]), read: new Map([['c', undefined]]) })).toBe('gone');
    expect(
      resolveFolder(d, { changes: new Map([changed('c'), changed('b', 'removed')]), read: new Map([['c', moved]]) }),
    ).toBe('gone');
    // Moved out of it before it was removed.
    expect(
      resolveFolder(d, { changes: new Map([changed('c'), changed('a', 'removed')]), read: new Map([['c', moved]]) }),
    ).toHaveProperty('folder');
  });

  test('says so when what was read of different times makes a circle', () => {
    const under = { ...b, ...placeFolder(d, ownAccess(b)) };
    expect(
      resolveFolder(d, {
        changes: new Map([changed('b'), changed('c')]),
        read: new Map([
          ['b', under],
          ['c', moved],
        ]),
      }),
    ).toBe('torn');
  });
});

/**
 * A tree and what is stored of it while jobs are under way: the model knows each folder's parent, own access type and whether it was removed;
 * the store has items as the code writes them.
 */
class World {
  readonly model = new Map<string, { parent: string | undefined; own: AccessType | undefined; removed: boolean }>();
  readonly stored = new Map<string, PlacedFolder>();
  readonly changes = new Map<string, FolderChange>();

  names(): string[] {
    return [...this.model.keys()].filter((id) => this.truth(id) !== 'gone');
  }

  truth(id: string): { ancestors: string[]; accessType: AccessType } | 'gone' {
    const { parent, own, removed } = this.model.get(id)!;
    const above = parent === undefined ? { ancestors: [], accessType: defaultAccessType } : this.truth(parent);
    if (removed || above === 'gone') return 'gone';
    return { ancestors: parent === undefined ? [] : [...above.ancestors, parent], accessType: own ?? above.accessType };
  }

  resolved(id: string): PlacedFolder | undefined {
    const read = new Map<string, PlacedFolder | undefined>();
    for (;;) {
      const one = this.stored.get(id);
      const resolution = one ? resolveFolder(one, { changes: this.changes, read }) : 'gone';
      if (resolution === 'torn') throw new Error('Torn, though all was read at one time');
      if (resolution === 'gone') return undefined;
      if ('folder' in resolution) return resolution.folder;
      read.set(resolution.needs.internalId, this.stored.get(resolution.needs.internalId));
    }
  }

  add(id: string, parent: string | undefined, own: AccessType | undefined): void {
    this.model.set(id, { parent, own, removed: false });
    this.stored.set(id, folder(id, parent === undefined ? undefined : this.resolved(parent), own));
  }

  move(id: string, parent: string | undefined): void {
    if (parent !== undefined && liesWithin(this.resolved(parent)!, id)) return;
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
      ...placeFolder(parent === undefined ? undefined : this.resolved(parent), { internalId: id, accessType }),
    });
    this.changes.set(id, { folderId: `the ${id}`, kind: 'changed' });
  }

  remove(id: string): void {
    this.model.get(id)!.removed = true;
    this.stored.delete(id);
    this.changes.set(id, { folderId: `the ${id}`, kind: 'removed' });
  }

  /** What a job does to one folder at some time: rewrites it from its stored parent, or removes it when it is gone. */
  reach(id: string): boolean {
    const stored = this.stored.get(id);
    if (!stored) return false;
    if (this.truth(id) === 'gone') {
      // From the removed folder down: its parent has gone before it.
      if (parentOf(stored) === rootFolderId || this.stored.has(parentOf(stored))) return false;
      return this.stored.delete(id);
    }
    const parent = this.stored.get(parentOf(stored));
    if (parentOf(stored) !== rootFolderId && !parent) return false;
    this.stored.set(id, { ...stored, ...placeFolder(parent, ownAccess(stored)) });
    return true;
  }

  /** Ends the job of a change: everything beneath has been reached, from above; one that missed something waits for the removals. */
  end(id: string): void {
    const kind = this.changes.get(id)?.kind;
    if (!kind) return;
    const missed = [id, ...this.#beneath(id)].filter(
      (one) => !this.stored.has(one) || (!this.reach(one) && this.truth(one) === 'gone'),
    );
    if (kind === 'changed' && missed.length > 0) {
      for (const [other, change] of this.changes) if (change.kind === 'removed') this.end(other);
    }
    if (kind === 'removed') for (const one of this.#beneath(id)) this.stored.delete(one);
    this.changes.delete(id);
  }

  #beneath(id: string): string[] {
    return [...this.model]
      .filter(([, { parent }]) => parent === id)
      .flatMap(([child]) => [child, ...this.#beneath(child)]);
  }
}

describe('folders whose changes are not written everywhere yet', () => {
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

  test('are read as a model has them, whatever part of what lies beneath has been rewritten', () => {
    let resolvedFromAnother = 0;
    fc.assert(
      fc.property(steps, (sequence) => {
        const world = new World();
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
          for (const one of world.model.keys()) {
            const [truth, found] = [world.truth(one), world.resolved(one)];
            const shown = found
              ? { ancestors: found.ancestors.map(({ internalId }) => internalId), accessType: found.accessType }
              : 'gone';
            // A call of expect for each of these takes longer than all the rest.
            if (JSON.stringify(shown) !== JSON.stringify(truth)) expect(shown).toEqual(truth);
            if (found && !samePosition(found, world.stored.get(one)!)) resolvedFromAnother += 1;
          }
        }
      }),
      { numRuns: 400 },
    );
    // Otherwise nothing was told apart.
    expect(resolvedFromAnother).toBeGreaterThan(1_000);
  });

  test('may lie at most 20 deep (design 5)', () => {
    expect(deepestFolder).toBe(20);
  });
});
