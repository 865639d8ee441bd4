import type { DocumentRemoval, EraseHook } from '../../content/userRemoval.ts';
import { inParallel } from '../../shared/inParallel.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { insert, replace } from '../../table/table.ts';
import { EditorDeleter } from '../deleteEditors.ts';
import { unchangedUpdate } from '../editorLog.ts';
import { EditorItems, EditorUpdateEntity } from '../entities.ts';
import { EditorVersionEntity } from './entities.ts';

const PAGE = 500;
const PARALLEL = 4;
const VERSIONS = 'versions';
/** The head and the newest update of an editor are its last items. */
const LAST_ITEMS = { limit: 2, descending: true } as const;

/**
 * Removes erased users from the authors of the changes since the last version, then from those of versions. A version that
 * is made meanwhile from the old authors conflicts, or is in the list of versions.
 */
export const eraseAuthors: EraseHook = {
  entities: [EditorVersionEntity, EditorUpdateEntity],
  async erase(removal, after) {
    if (after === undefined) {
      await eraseFromEditors(removal);
      return VERSIONS;
    }
    const { table, scope } = removal;
    const from = after === VERSIONS ? undefined : after;
    const { values, next } = await table.query(EditorVersionEntity, scope, { limit: PAGE, after: from });
    await inParallel(values.filter(names(removal)), PARALLEL, (version) =>
      retryOnConflict(async () => {
        const stored = await table.get(EditorVersionEntity, { ...scope, ...version });
        if (!stored || !names(removal)(stored)) return 'done';
        const authors = without(removal, stored.authors);
        return table.tryWrite([replace(EditorVersionEntity, { ...scope, ...stored, authors }, stored._r)]);
      }),
    );
    return next;
  },
};

async function eraseFromEditors(removal: DocumentRemoval): Promise<void> {
  const { table, scope, clock } = removal;
  const { editorIds } = await new EditorDeleter(table).listIds(scope, Infinity);
  for (const editorId of editorIds)
    await retryOnConflict(async () => {
      const { values } = await table.query(EditorItems, scope, { ...LAST_ITEMS, prefix: [editorId] });
      const [head, newest] = values;
      if (head?.kind !== 'head' || newest?.kind !== 'update' || !names(removal)(newest.value)) return 'done';
      // A later update, because warm functions have the newest one in memory.
      const entry = {
        ...unchangedUpdate(newest.value, clock()),
        authors: without(removal, newest.value.authors ?? []),
      };
      return table.tryWrite([insert(EditorUpdateEntity, { ...scope, editorId, ...entry })]);
    });
}

function names({
  removedUsers,
}: DocumentRemoval): (item: { readonly authors?: readonly string[] | undefined }) => boolean {
  return ({ authors = [] }) => authors.some((userId) => removedUsers.userIds.has(userId));
}

function without({ removedUsers }: DocumentRemoval, authors: readonly string[]): string[] {
  return authors.filter((userId) => !removedUsers.userIds.has(userId));
}
