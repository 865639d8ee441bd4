import type { Viewer } from '../../content/rules/viewer.ts';
import type { ActorField, UserRule } from '../../userTokens/rules/userRule.ts';
import type { Thread, ThreadChange } from './threads.ts';

/** The fields of a comment that only servers send: agents, and times of comments from another system. */
const serverFields = ['agent', 'createdAt', 'lastUpdated'];

const createFlags = ['createOrganization', 'createDocument'];

function authorsOf(list: string): ActorField[] {
  return [
    { path: `${list}.commentData.*.from`, holds: 'user' },
    { path: `${list}.comments.*.from`, holds: 'user' },
  ];
}

function serverFieldsOf(list: string): string[] {
  return ['commentData', 'comments'].flatMap((comments) =>
    serverFields.map((field) => `${list}${comments}.*.${field}`),
  );
}

/** Who may start threads: everyone who may read the document, as the author. */
export const newThreadsByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: authorsOf('commentAnnotations.*'),
  refuses: [
    ...createFlags,
    ...serverFieldsOf('commentAnnotations.*.'),
    'commentAnnotations.*.createdAt',
    'commentAnnotations.*.lastUpdated',
  ],
};

/** Who may reply: everyone who may read the thread, as the author. */
export const newCommentsByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: [
    { path: 'commentData.*.from', holds: 'user' },
    { path: 'comments.*.from', holds: 'user' },
  ],
  refuses: [...createFlags, ...serverFieldsOf('')],
};

const ownComments: ActorField[] = [
  { path: 'userIds', holds: 'userIds' },
  { path: 'actionUser', holds: 'user' },
];

/** Who may delete comments: their authors. `userIds` selects the comments of the user. */
export const commentDeletionsByUsers: UserRule = { needs: 'viewer', on: 'document', actor: ownComments };

/** Who may change comments: their authors. `userIds` selects the comments of the user. */
export const commentChangesByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: [...ownComments, { path: 'updatedData.from', holds: 'user', keepMissing: true }],
  refuses: ['updatedData.agent'],
};

/** Who may change threads, see `mayUpdate`. Users name the threads by id. */
export const threadUpdatesByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: [
    { path: 'actionUser', holds: 'user' },
    { path: 'updatedData.from', holds: 'user', keepMissing: true },
    { path: 'updatedData.statusUpdatedByUserId', holds: 'userId', keepMissing: true },
    { path: 'updatedData.resolvedByUserId', holds: 'userId', keepMissing: true },
  ],
  refuses: ['locationIds', 'userIds', 'updateUsers', 'updatedData.createdAt', 'updatedData.lastUpdated'],
};

/** Who may delete threads: their authors. Users name the threads by id. */
export const threadDeletionsByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: [{ path: 'actionUser', holds: 'user' }],
  refuses: ['locationIds', 'userIds', 'agentId', 'agentSuggestions', 'agentUrls'],
};

/** The fields of someone else's thread that an editor may change. */
const editorFields = new Set([
  'status',
  'assignedTo',
  'priority',
  'suggestion',
  'statusUpdatedByUserId',
  'resolvedByUserId',
]);

/** Returns whether a user may change a thread. An author may change every field. An editor may resolve the threads of others. */
export function mayUpdate(
  { userId, role }: Viewer,
  thread: Pick<Thread, 'from'>,
  change: Partial<ThreadChange>,
): boolean {
  if (thread.from.userId === userId) return true;
  const changed = Object.entries(change).filter(([, value]) => value !== undefined);
  return role === 'editor' && changed.every(([field]) => editorFields.has(field));
}
