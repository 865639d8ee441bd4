import { defineContentKind } from '../content/kind.ts';
import { purgeEditors } from './deleteEditors.ts';

export const editorKind = defineContentKind({
  name: 'editor',
  purge: { document: purgeEditors, organization: 'none' },
  // Updates name their author by id only.
  remove: 'none',
  erase: 'none',
});
