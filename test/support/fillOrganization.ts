import { randomBytes } from 'node:crypto';
import { LiveChannelEntity } from '../../lib/live/entities.ts';
import { upsert } from '../../lib/table/table.ts';
import type { Customer } from './customer.ts';
import { table } from './standIn.ts';
import { storedDocumentScope } from './storedScope.ts';
import { times } from './times.ts';

/** Writes a push channel for a document, as if a user had connected to it. */
export async function openChannel(customer: Customer, ids: { organizationId: string; documentId: string }) {
  const scope = await storedDocumentScope(customer, ids);
  const channel = { ...scope, ...ids, version: 0, epoch: 1, activeUntil: 0, marks: {} };
  await table.write([upsert(LiveChannelEntity, channel)]);
}

const from = (userId: string) => ({ userId, name: userId, email: `${userId}@example.com` });

/**
 * Creates an organization with documents, and `each` records of every kind in each document. The texts of the records
 * are `mark`.
 */
export async function fillOrganization(
  customer: Customer,
  organizationId: string,
  {
    mark = 'x',
    documents = ['nda', 'plan'],
    each = 2,
  }: { mark?: string; documents?: readonly string[]; each?: number } = {},
): Promise<void> {
  await customer.ok('/v2/organizations/folders/add', {
    organizationId,
    createOrganization: true,
    folders: [
      { folderId: 'contracts', accessType: 'restricted' },
      { folderId: 'drafts', parentFolderId: 'contracts' },
    ],
  });
  const [first, ...others] = documents;
  await customer.untyped('/v2/organizations/documents/add', {
    organizationId,
    documents: [{ documentId: first, documentName: mark }],
  });
  if (others.length > 0)
    await customer.ok('/v2/organizations/documents/add', {
      organizationId,
      folderId: 'drafts',
      documents: others.map((documentId) => ({ documentId, documentName: mark })),
    });
  await customer.ok('/v2/users/add', { organizationId, users: ['ada', 'bob'].map(from) });
  await customer.ok('/v2/users/add', { organizationId, folderId: 'drafts', users: [from('ada')] });
  await customer.ok('/v2/organizations/usergroups/add', {
    organizationId,
    organizationUserGroups: [{ groupId: 'lawyers', groupName: mark }],
  });
  await customer.ok('/v2/organizations/usergroups/users/add', {
    organizationId,
    organizationUserGroupId: 'lawyers',
    userIds: ['ada', 'bob'],
  });
  await customer.ok('/v2/notifications/config/set', {
    organizationId,
    userIds: ['ada', 'bob'],
    config: { inbox: 'MINE' },
  });
  for (const target of [{ type: 'org_user' }, { type: 'folder_user', folderId: 'drafts' }])
    await customer.untyped('/v2/users/invite/add', { organizationId, email: 'guest@example.com', ...target });
  await customer.grant(
    'eve',
    { type: 'organization', id: organizationId },
    { type: 'folder', id: 'contracts', organizationId },
    { type: 'document', id: first, organizationId },
  );
  for (const documentId of documents) await fillDocument(customer, { organizationId, documentId }, { mark, each });
}

interface RecordNames {
  readonly documentId: string;
  /** The ids of the records end with it. */
  readonly n: number | string;
  /** The user who adds the records, and a user whom they address. */
  readonly from: string;
  readonly to: string;
  /** The texts of the records. */
  readonly mark: string;
  /** Returns a user with a profile, as requests have it. */
  readonly profile: (userId: string) => object;
}

/**
 * A request that adds records to a document: its path and data. The removal of a user of the third part deletes what
 * the request adds, and so does the erasure of a user of the third or fourth part.
 */
type RecordRequest = [path: string, data: object, removedWith?: readonly string[], erasedWith?: readonly string[]];

const here = { location: { id: 'here' } };

/** By kind, the requests that add a record. Together, their items have all types that a document can contain. */
export const recordKinds = {
  thread({ n, from, to, mark, profile }) {
    const annotationId = `thread-${n}`;
    const tagged = { userId: 'zoe', contact: { userId: 'zoe', name: 'Zoe' }, text: '@zoe' };
    const comment = { commentText: mark, to: [profile(to)], taggedUserContacts: [tagged] };
    const thread = { annotationId, ...here, assignedTo: { userId: 'eve' } };
    const reaction = { annotationId: `on-thread-${n}`, icon: '+', commentAnnotationId: annotationId, commentId: 1 };
    const commentData = [{ ...comment, from: profile(from) }];
    return [
      ['commentannotations/add', { commentAnnotations: [{ ...thread, commentData }] }, [from]],
      [
        'commentannotations/comments/add',
        { annotationId, commentData: [{ ...comment, from: profile(to) }] },
        [from],
        [to],
      ],
      ['reactions/add', { reactions: [{ ...reaction, from: profile(to) }] }, [from, to]],
      ['commentannotations/views/add', { annotationIds: [annotationId], userId: to }, [], [to]],
    ];
  },
  deletedThread({ n, from, mark, profile }) {
    const annotationId = `deleted-${n}`;
    const thread = { annotationId, commentData: [{ commentText: mark, from: profile(from) }] };
    return [
      ['commentannotations/add', { commentAnnotations: [thread] }],
      ['commentannotations/delete', { annotationIds: [annotationId] }],
    ];
  },
  reaction: ({ n, from, profile }) => [
    [
      'reactions/add',
      { reactions: [{ annotationId: `reaction-${n}`, icon: '+', from: profile(from), ...here }] },
      [from],
    ],
  ],
  recording({ n, from, profile }) {
    const recording = { annotationId: `recording-${n}`, recordingType: 'audio', from: profile(from), ...here };
    return [['recordings/add', { recordings: [recording] }, [from]]];
  },
  notification: (names) => [notification('message', false, names, [names.to], [names.from])],
  announcement: (names) => [notification('notification', true, names, [], [names.from])],
  activity({ documentId, n, from, mark, profile }) {
    const activity = { featureType: 'custom', actionType: mark, actionUser: profile(from), targetEntityId: 'target' };
    return [['activities/add', { activities: [{ id: `${documentId}-activity-${n}`, ...activity }] }, [], [from]]];
  },
  judgment({ documentId, n, from, mark, profile }) {
    const judgment = { decision: 'approved', reasoning: mark, content: mark, actionUser: profile(from) };
    const judgments = [{ ...judgment, recordId: `${documentId}-judgment-${n}`, annotationId: `thread-${n}` }];
    return [['memory/judgments/add', { judgments }]];
  },
  // The state of `notes` fits into one item, that of `report` needs several.
  editor: ({ n, mark }) => [
    ['crdt/add', { editorId: `notes-${n}`, type: 'map', data: { mark } }],
    ['crdt/versions/add', { editorId: `notes-${n}`, name: mark }],
    ['crdt/add', { editorId: `report-${n}`, type: 'text', data: randomBytes(20_000).toString('hex') }],
  ],
  presence: ({ from, profile }) => [['presence/add', { users: [profile(from)] }]],
  liveState: ({ n, mark }) => [['livestate/broadcast', { liveStateDataId: `state-${n}`, data: { mark } }]],
} satisfies Record<string, (names: RecordNames) => RecordRequest[]>;

function notification(
  kind: string,
  notifyAll: boolean,
  { documentId, n, from, to, mark, profile }: RecordNames,
  removedWith: string[],
  erasedWith: string[],
): RecordRequest {
  const texts = { displayHeadlineMessageTemplate: mark, displayBodyMessage: mark };
  const about = { actionUser: profile(from), notifyUsers: [profile(to)], notifyAll, ...texts, ...here };
  return ['notifications/add', { notificationId: `${documentId}-${kind}-${n}`, ...about }, removedWith, erasedWith];
}

/** Adds `each` records of every kind to a document. The texts of the records are `mark`. */
export async function fillDocument(
  customer: Customer,
  scope: { organizationId: string; documentId: string },
  { mark = 'x', each = 2 }: { mark?: string; each?: number } = {},
): Promise<void> {
  const { organizationId, documentId } = scope;
  await customer.ok('/v2/users/add', { ...scope, users: ['bob', 'zoe'].map(from) });
  await customer.ok('/v2/notifications/config/set', {
    organizationId,
    documentIds: [documentId],
    userIds: ['zoe'],
    config: { inbox: 'NONE' },
  });
  for (const n of times(each, (index) => index)) {
    const names = { documentId, n, from: 'ada', to: 'bob', mark, profile: from };
    for (const [path, data] of Object.values(recordKinds).flatMap((requests) => requests(names)))
      await customer.untyped(`/v2/${path}`, { ...scope, ...data });
    for (const [path, data] of recordKinds.judgment({ ...names, documentId: `about-${documentId}` }))
      await customer.untyped(`/v2/${path}`, { organizationId, ...data });
  }
  await openChannel(customer, scope);
}
