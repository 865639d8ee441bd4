import { defineContentKind } from '../content/kind.ts';
import { hintFor, removedHint, type Written } from '../content/rules/hints.ts';
import { purgeEditors } from './deleteEditors.ts';

export const editorKind = defineContentKind({
  name: 'editor',
  // An editor has its id in its key, and no author, user or location of its own.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  rename: 'none',
  purge: { document: purgeEditors, organization: 'none' },
  hint: {
    types: { 'editor.add': 'document', 'editor.delete': 'document', 'crdt.update': 'document' },
    written: {
      Editor: (change: Written<{ editorId: string }>) =>
        change.change === 'insert' ? hintFor(change, 'editor.add', { editorId: change.item.editorId }) : undefined,
    },
    removed: {
      // The suffix of heads. It excludes the items that a compaction removes.
      EDITORS: {
        suffix: '#META',
        hint: (change, [id = '']) => removedHint(change, 'editor.delete', 'editorId', id),
      },
    },
  },
  // Updates name their author by id only.
  remove: 'none',
  erase: 'none',
});
