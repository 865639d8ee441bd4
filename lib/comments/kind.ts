import { defineContentKind } from '../content/kind.ts';
import { purgeThreads } from './purgeThreads.ts';
import { eraseThreads, removeCommentUser } from './userRemoval.ts';

/** Threads with their comments. */
export const commentKind = defineContentKind({
  name: 'comment',
  purge: { document: purgeThreads, organization: 'none' },
  remove: removeCommentUser,
  erase: eraseThreads,
});
