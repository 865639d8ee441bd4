import { DocumentEntity } from '../directory/documents.ts';
import type { Walk } from '../directory/folders/changeFoldersStep.ts';
import { FolderEntity, FolderEntryEntity } from '../directory/folders/folders.ts';
import type { FolderEntry, FolderVisitor, WalkedFolder } from '../directory/folders/folderWalk.ts';
import { parentOf } from '../directory/rules/folders.ts';
import { inParallel } from '../shared/inParallel.ts';
import { remove } from '../table/table.ts';
import { purgeDocument } from './purgeDocuments.ts';
import { purgeResource } from './purgeResource.ts';

const PARALLEL = 8;

/** Returns a visitor for `walkFolders`. The visitor purges the documents and folders in a deleted folder. */
export function purgeFolders({ table, scope, clock, deadline }: Walk): FolderVisitor {
  const key = (folder: WalkedFolder, { kind, id }: FolderEntry) =>
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
      let complete = true as boolean;
      const removed: FolderEntry[] = [];
      await inParallel(documents, PARALLEL, async (entry, index) => {
        const stored = storedDocuments[index];
        // A new document with the same id stays, and only the content of the deleted document is purged. A document that is in
        // another folder now was moved just before the deletion, and stays.
        if (stored?.internalId === entry.internalId) {
          if (stored.folder?.internalId !== folder.internalId) return;
          if ((await table.write([remove(DocumentEntity, { ...scope, ...stored }, stored._r)])) !== 'done')
            return void (complete = false);
        }
        if (
          await purgeDocument(
            table,
            { ...scope, documentKey: entry.internalId, documentId: entry.id },
            { clock, deadline },
          )
        )
          removed.push(entry);
        else complete = false;
      });
      await table.removeKeys(removed.map((entry) => key(folder, entry)));
      const subfolders = new Set<string>();
      await inParallel(folders, PARALLEL, async (entry, index) => {
        const stored = storedFolders[index];
        if (stored?.internalId === entry.internalId) {
          if (parentOf(stored) !== folder.internalId) return;
          if ((await table.write([remove(FolderEntity, { ...scope, ...stored }, stored._r)])) !== 'done')
            return void (complete = false);
        }
        subfolders.add(entry.id);
      });
      return complete ? subfolders : 'stop';
    },
    async afterFolder(folder, parent) {
      await purgeResource(table, scope, folder.internalId);
      // The folder's entry is removed last. If the walk is interrupted, the next walk therefore finds the folder again.
      if (parent) await table.removeKeys([key(parent, { kind: 'folder', ...folder })]);
    },
  };
}
