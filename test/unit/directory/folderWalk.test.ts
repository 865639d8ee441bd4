import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FolderEntryEntity } from '../../../lib/directory/folders/folders.ts';
import { type FolderEntry, walkFolders, walkFrom, type WalkStack } from '../../../lib/directory/folders/folderWalk.ts';
import type { Table } from '../../../lib/table/table.ts';

const scope = { tenant: 't', organizationKey: 'o' };

/** A table that has only the entries of folders. `contents` are the documents and folders in each folder. */
function tableOf(contents: ReadonlyMap<string, readonly FolderEntry[]>): Table {
  const keyOf = (folderKey: string, entry: FolderEntry) => FolderEntryEntity.key({ ...scope, folderKey, ...entry }).SK;
  return {
    async query(
      _entity: unknown,
      { folderKey }: { folderKey: string },
      { limit, after = '', prefix = [] }: { limit: number; after?: string; prefix?: string[] },
    ) {
      const all = (contents.get(folderKey) ?? [])
        .filter(({ kind }) => prefix.length === 0 || prefix[0] === kind)
        .toSorted((a, b) => (keyOf(folderKey, a) < keyOf(folderKey, b) ? -1 : 1));
      const laterEntries = all.filter((entry) => keyOf(folderKey, entry) > after);
      const values = laterEntries.slice(0, limit);
      return { values, next: laterEntries.length > limit ? keyOf(folderKey, values.at(-1)!) : undefined };
    },
  } as unknown as Table;
}

/** Puts each entry into one of the folders that come before it. */
const trees = fc
  .array(fc.record({ in: fc.nat(1_000), document: fc.boolean() }), { minLength: 1, maxLength: 60 })
  .map((made) => {
    const contents = new Map<string, FolderEntry[]>([['i-top', []]]);
    made.forEach(({ in: within, document }, index) => {
      const folders = [...contents.keys()];
      const id = `${index}`;
      contents
        .get(folders[within % folders.length]!)!
        .push({ kind: document ? 'document' : 'folder', id, internalId: `i-${id}` });
      if (!document) contents.set(`i-${id}`, []);
    });
    return contents;
  });

describe('walkFolders', () => {
  test('visits parents before descendants, and leaves each folder after its contents, also after a resume', async () => {
    await fc.assert(
      fc.asyncProperty(
        trees,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (contents, page, pages, foldersOnly) => {
          const visited = new Set<string>();
          const leftFolders = new Set<string>();
          let stack: WalkStack | undefined = walkFrom({ internalId: 'i-top', id: 'top' });
          let steps = 0;
          do {
            stack = await walkFolders(
              tableOf(contents),
              scope,
              JSON.parse(JSON.stringify(stack)),
              {
                ...(foldersOnly && { kind: 'folder' as const }),
                async visit(folder, entries) {
                  expect(folder.internalId === 'i-top' || visited.has(folder.internalId)).toBe(true);
                  for (const { internalId } of entries) visited.add(internalId);
                  // The order of this set is reversed, because it must not matter. The walk enters folders in the
                  // order of their entries.
                  return new Set(entries.toReversed().flatMap(({ kind, id }) => (kind === 'folder' ? [id] : [])));
                },
                async afterFolder(folder, parent) {
                  for (const { kind, internalId } of contents.get(folder.internalId)!)
                    if (kind === 'folder') expect(leftFolders.has(internalId)).toBe(true);
                  expect(parent === undefined).toBe(folder.internalId === 'i-top');
                  leftFolders.add(folder.internalId);
                },
              },
              { page, pages, hasTime: () => true },
            );
            steps += 1;
          } while (stack && steps < 1_000);
          const all = [...contents.values()]
            .flat()
            .filter(({ kind }) => !foldersOnly || kind === 'folder')
            .map(({ internalId }) => internalId);
          expect([...visited].toSorted()).toEqual(all.toSorted());
          expect([...leftFolders].toSorted()).toEqual([...contents.keys()].toSorted());
        },
      ),
    );
  });

  test('resumes at the folder where the visitor stopped it, and skips excluded folders', async () => {
    const contents = new Map<string, FolderEntry[]>([
      ['i-top', ['a', 'b'].map((id) => ({ kind: 'folder', id, internalId: `i-${id}` }))],
      ['i-a', [{ kind: 'document', id: 'd', internalId: 'i-d' }]],
      ['i-b', [{ kind: 'document', id: 'e', internalId: 'i-e' }]],
    ]);
    const seen: string[] = [];
    const budget = { page: 10, pages: 10, hasTime: () => true };
    const stopped = await walkFolders(
      tableOf(contents),
      scope,
      walkFrom({ internalId: 'i-top', id: 'top' }),
      { visit: async ({ id }) => (id === 'b' ? 'stop' : new Set(['b'])) },
      budget,
    );
    expect(stopped).toEqual([
      { internalId: 'i-top', id: 'top', after: 'folder#b' },
      { internalId: 'i-b', id: 'b' },
    ]);
    expect(
      await walkFolders(
        tableOf(contents),
        scope,
        stopped!,
        { visit: async (_folder, entries) => (seen.push(...entries.map(({ id }) => id)), new Set()) },
        budget,
      ),
    ).toBeUndefined();
    expect(seen).toEqual(['e']);
  });
});
