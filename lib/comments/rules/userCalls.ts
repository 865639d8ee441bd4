import type { ActorField, PeopleField, UserRule } from '../../app/rules/userRule.ts';
import type { Viewer } from '../../content/rules/viewer.ts';
import type { ThreadChange } from './threadRequests.ts';
import type { Thread } from './threads.ts';

/** Only servers may send these fields: an agent, and the times of a comment from another system. */
const serverFields = ['agent', 'createdAt', 'lastUpdated'];

const createFlags = ['createOrganization', 'createDocument'];

function authorsOf(list: string): ActorField[] {
  return [
    { path: `${list}.commentData.*.from`, holds: 'user' },
    { path: `${list}.comments.*.from`, holds: 'user' },
  ];
}

const peopleOfComment: readonly PeopleField[] = [
  { path: 'to', holds: 'users' },
  { path: 'taggedUserContacts', holds: 'tagged' },
];
const peopleOfHead: readonly PeopleField[] = [
  { path: 'assignedTo', holds: 'user' },
  { path: 'subscribedUsers', holds: 'users' },
  { path: 'unsubscribedUsers', holds: 'users' },
  { path: 'visibility.userIds', holds: 'userIds' },
];
export const peopleOfThreadUpdate = below('updatedData', peopleOfHead);
export const peopleOfCommentUpdate = below('updatedData', peopleOfComment);
export const peopleOfComments = ['commentData.*', 'comments.*'].flatMap((path) => below(path, peopleOfComment));
export const peopleOfThread = [...peopleOfHead, ...peopleOfComments];

function below(path: string, fields: readonly PeopleField[]): PeopleField[] {
  return fields.map((field) => ({ ...field, path: `${path}.${field.path}` }));
}

function inComments(list: string, fields: readonly string[]): string[] {
  return ['commentData', 'comments'].flatMap((comments) => fields.map((field) => `${list}${comments}.*.${field}`));
}

export const threadListingByUsers: UserRule = {
  needs: 'viewer',
  on: 'documents',
  actor: [{ path: 'userId', holds: 'userId' }],
  refuses: ['deletedAfter'],
};

export const newThreadsByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: authorsOf('commentAnnotations.*'),
  refuses: [
    ...createFlags,
    ...inComments('commentAnnotations.*.', serverFields),
    'commentAnnotations.*.createdAt',
    'commentAnnotations.*.lastUpdated',
  ],
  people: below('commentAnnotations.*', peopleOfThread),
};

export const newCommentsByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: [
    { path: 'commentData.*.from', holds: 'user' },
    { path: 'comments.*.from', holds: 'user' },
  ],
  refuses: [...createFlags, ...inComments('', serverFields)],
  people: peopleOfComments,
};

const ownComments: ActorField[] = [
  { path: 'userIds', holds: 'userIds' },
  { path: 'actionUser', holds: 'user' },
];

/** Users may delete and change their own comments. `userIds` always selects the calling user. */
export const commentDeletionsByUsers: UserRule = { needs: 'viewer', on: 'document', actor: ownComments };

export const commentChangesByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: [...ownComments, { path: 'updatedData.from', holds: 'user', keepMissing: true }],
  refuses: ['updatedData.agent'],
  people: peopleOfCommentUpdate,
};

/** `mayUpdate` checks each thread, which users name by id. */
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
  people: peopleOfThreadUpdate,
};

/** The endpoint checks the author of each thread. */
export const threadDeletionsByUsers: UserRule = {
  needs: 'viewer',
  on: 'document',
  actor: [{ path: 'actionUser', holds: 'user' }],
  refuses: ['locationIds', 'userIds', 'agentId', 'agentSuggestions', 'agentUrls'],
};

const editorFields = new Set([
  'status',
  'assignedTo',
  'priority',
  'suggestion',
  'statusUpdatedByUserId',
  'resolvedByUserId',
]);

export function mayJudge({ userId, role }: Viewer, thread: Pick<Thread, 'from'>): boolean {
  return role === 'editor' && thread.from.userId !== userId;
}

export function mayUpdate(
  { userId, role }: Viewer,
  thread: Pick<Thread, 'from'>,
  change: Partial<ThreadChange>,
): boolean {
  if (thread.from.userId === userId) return true;
  const changed = Object.entries(change).filter(([, value]) => value !== undefined);
  return role === 'editor' && changed.every(([field]) => editorFields.has(field));
}
