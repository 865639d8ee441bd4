import { type DeletedDocument, type PurgeHook, purgeItems } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { hintFor, removedHint, type Written } from '../content/rules/hints.ts';
import { arePurged } from '../table/purgePartition.ts';
import { purgeEditors } from './deleteEditors.ts';
import { EditorVersionEntity, EditorVersionPartEntity } from './versions/entities.ts';
import { eraseAuthors } from './versions/eraseAuthors.ts';

const versionPurge = purgeItems<DeletedDocument>(EditorVersionEntity, EditorVersionPartEntity);

const purgeEditorsAndVersions: PurgeHook<DeletedDocument> = {
  entities: [...purgeEditors.entities, ...versionPurge.entities],
  purge: (table, document, budget) =>
    arePurged([purgeEditors.purge(table, document), versionPurge.purge(table, document, budget)]),
};

export const editorKind = defineContentKind({
  name: 'editor',
  // An editor has its id in its key, and no author, user or location of its own.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  rename: 'none',
  purge: { document: purgeEditorsAndVersions, organization: 'none' },
  hint: {
    types: {
      'editor.add': 'document',
      'editor.delete': 'document',
      'editor.restore': 'document',
      'crdt.update': 'document',
    },
    written: {
      Editor: (change: Written<{ editorId: string }>) =>
        change.change === 'insert' ? hintFor(change, 'editor.add', { editorId: change.item.editorId }) : undefined,
      EditorVersion: (change: Written<{ editorId: string; restoredVersionId?: string }>) => {
        const { editorId, restoredVersionId } = change.item;
        if (change.change !== 'insert' || restoredVersionId === undefined) return undefined;
        return hintFor(change, 'editor.restore', { editorId, versionId: restoredVersionId });
      },
    },
    removed: {
      // The suffix of heads. It excludes the items that a compaction removes.
      EDITORS: {
        suffix: '#META',
        hint: (change, [id = '']) => removedHint(change, 'editor.delete', 'editorId', id),
      },
    },
  },
  // Updates and versions name users by id only. Versions show the ids, so an erasure removes them.
  remove: 'none',
  erase: eraseAuthors,
});
