import { DocumentEntity } from '../directory/documents.ts';
import type { FolderWalk } from '../directory/folders/changeFoldersStep.ts';
import { FolderEntity, FolderEntryEntity } from '../directory/folders/folders.ts';
import type { FolderEntry, FolderVisitor, WalkedFolder } from '../directory/folders/folderWalk.ts';
import { parentOf } from '../directory/rules/folders.ts';
import { inParallel } from '../shared/inParallel.ts';
import { remove, type WriteOp } from '../table/table.ts';
import { purgeDocument } from './purgeDocuments.ts';
import { purgeResource } from './purgeResource.ts';

const PARALLEL = 8;

/** `moved`: moved just before the deletion, and stays. `unfinished`: a later visit must purge the entry again. */
type EntryOutcome = 'purged' | 'moved' | 'unfinished';

export function purgeFolders({ table, scope, clock, deadline }: FolderWalk): FolderVisitor {
  const keyOf = (folder: WalkedFolder, { kind, id }: FolderEntry) =>
    FolderEntryEntity.key({ ...scope, folderKey: folder.internalId, kind, id });
  return {
    async visit(folder, entries) {
      const [documents, folders] = [
        entries.filter(({ kind }) => kind === 'document'),
        entries.filter(({ kind }) => kind === 'folder'),
      ];
      const [storedDocuments, storedFolders] = await Promise.all([
        table.getMany(
          DocumentEntity,
          documents.map(({ id }) => ({ ...scope, documentId: id })),
        ),
        table.getMany(
          FolderEntity,
          folders.map(({ id }) => ({ ...scope, folderId: id })),
        ),
      ]);
      const documentOutcomes = await inParallel(documents, PARALLEL, async (entry, index): Promise<EntryOutcome> => {
        const stored = storedDocuments[index];
        // A new document with the same id stays.
        if (stored?.internalId === entry.internalId) {
          const op = remove(DocumentEntity, { ...scope, ...stored }, stored._r);
          const outcome = await deleteStored(folder, stored.folder?.internalId, op);
          if (outcome !== 'purged') return outcome;
        }
        const document = { ...scope, documentKey: entry.internalId, documentId: entry.id };
        return (await purgeDocument(table, document, { clock, deadline })) ? 'purged' : 'unfinished';
      });
      const purgedDocuments = documents.filter((_entry, index) => documentOutcomes[index] === 'purged');
      await table.removeKeys(purgedDocuments.map((entry) => keyOf(folder, entry)));
      const folderOutcomes = await inParallel(folders, PARALLEL, async (entry, index): Promise<EntryOutcome> => {
        const stored = storedFolders[index];
        if (stored?.internalId !== entry.internalId) return 'purged';
        return deleteStored(folder, parentOf(stored), remove(FolderEntity, { ...scope, ...stored }, stored._r));
      });
      if ([...documentOutcomes, ...folderOutcomes].includes('unfinished')) return 'stop';
      return new Set(folders.filter((_entry, index) => folderOutcomes[index] === 'purged').map(({ id }) => id));
    },
    async afterFolder(folder, parent) {
      await purgeResource(table, scope, folder.internalId);
      // Last, so that an interrupted walk finds the folder again.
      if (parent) await table.removeKeys([keyOf(parent, { kind: 'folder', ...folder })]);
    },
  };

  async function deleteStored(folder: WalkedFolder, parentKey: string | undefined, op: WriteOp): Promise<EntryOutcome> {
    if (parentKey !== folder.internalId) return 'moved';
    return (await table.write([op])) === 'done' ? 'purged' : 'unfinished';
  }
}
