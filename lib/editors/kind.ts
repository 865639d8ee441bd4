import { defineContentKind } from '../content/kind.ts';
import { purgeEditors } from './deleteEditors.ts';

export const editorKind = defineContentKind({
  name: 'editor',
  // An editor has its id in its key, and no author, user or location of its own.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  purge: { document: purgeEditors, organization: 'none' },
  // Updates name their author by id only.
  remove: 'none',
  erase: 'none',
});
