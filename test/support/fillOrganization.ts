import { randomBytes } from 'node:crypto';
import { LiveChannelEntity } from '../../lib/live/entities.ts';
import { upsert } from '../../lib/table/table.ts';
import type { Customer } from './customer.ts';
import { table } from './standIn.ts';
import { storedDocumentScope } from './storedScope.ts';
import { times } from './times.ts';

/** Writes a push channel for a document, as if a user had connected to it. */
async function openChannel(customer: Customer, ids: { organizationId: string; documentId: string }) {
  const scope = await storedDocumentScope(customer, ids);
  const channel = { ...scope, ...ids, version: 0, epoch: 1, activeUntil: 0, marks: {} };
  await table.write([upsert(LiveChannelEntity, channel)]);
}

const from = (userId: string) => ({ userId, name: userId, email: `${userId}@example.com` });
const ids = (name: string, count: number) => times(count, (index) => `${name}-${index}`);

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

/** Adds `each` records of every kind to a document. The texts of the records are `mark`. */
export async function fillDocument(
  customer: Customer,
  scope: { organizationId: string; documentId: string },
  { mark = 'x', each = 2 }: { mark?: string; each?: number } = {},
): Promise<void> {
  const { documentId } = scope;
  await customer.ok('/v2/users/add', { ...scope, users: ['bob', 'zoe'].map(from) });
  await customer.ok('/v2/notifications/config/set', {
    organizationId: scope.organizationId,
    documentIds: [documentId],
    userIds: ['zoe'],
    config: { inbox: 'NONE' },
  });
  const comment = {
    commentText: mark,
    from: from('ada'),
    to: [from('bob')],
    taggedUserContacts: [{ userId: 'zoe', contact: from('zoe'), text: '@zoe' }],
  };
  await customer.ok('/v2/commentannotations/add', {
    ...scope,
    commentAnnotations: ids('thread', each).map((annotationId) => ({
      annotationId,
      location: { id: 'here' },
      assignedTo: from('eve'),
      commentData: [comment, { ...comment, from: from('bob') }],
    })),
  });
  await customer.ok('/v2/commentannotations/add', {
    ...scope,
    commentAnnotations: [{ annotationId: 'deleted', commentData: [{ commentText: mark, from: from('ada') }] }],
  });
  await customer.ok('/v2/commentannotations/delete', { ...scope, annotationIds: ['deleted'] });
  await customer.ok('/v2/commentannotations/views/add', { ...scope, annotationIds: ['thread-0'], userId: 'bob' });
  await customer.ok('/v2/reactions/add', {
    ...scope,
    reactions: [
      ...ids('reaction', each).map((annotationId) => ({
        annotationId,
        icon: '+',
        from: from('ada'),
        location: { id: 'here' },
      })),
      { annotationId: 'on-comment', icon: '+', from: from('bob'), commentAnnotationId: 'thread-0', commentId: 1 },
    ],
  });
  await customer.untyped('/v2/recordings/add', {
    ...scope,
    recordings: ids('recording', each).map((annotationId) => ({
      annotationId,
      recordingType: 'audio',
      from: from('zoe'),
      location: { id: 'here' },
    })),
  });
  await customer.ok('/v2/presence/add', { ...scope, users: [{ userId: 'ada', name: mark }] });
  await customer.ok('/v2/livestate/broadcast', { ...scope, liveStateDataId: 'state', data: { mark } });
  await openChannel(customer, scope);
  for (const id of ids('notification', each)) {
    await customer.ok('/v2/notifications/add', {
      ...scope,
      notificationId: `${documentId}-${id}`,
      actionUser: from('ada'),
      notifyUsers: [from('bob')],
      notifyAll: true,
      displayHeadlineMessageTemplate: mark,
      displayBodyMessage: mark,
      location: { id: 'here' },
    });
  }
  await customer.ok('/v2/presence/add', { ...scope, users: [from('ada')] });
  await customer.ok('/v2/livestate/broadcast', { ...scope, liveStateDataId: 'cursor', data: { mark } });
  await customer.untyped('/v2/activities/add', {
    ...scope,
    activities: ids('activity', each).map((id) => ({
      id: `${documentId}-${id}`,
      featureType: 'custom',
      actionType: mark,
      actionUser: from('ada'),
      targetEntityId: 'target',
    })),
  });
  const judgment = {
    decision: 'approved',
    reasoning: mark,
    content: mark,
    annotationId: 'thread-0',
    actionUser: from('ada'),
  };
  for (const judged of [scope, { organizationId: scope.organizationId }])
    await customer.ok('/v2/memory/judgments/add', {
      ...judged,
      judgments: ids(`${documentId}-judgment`, each).map((recordId) => ({ ...judgment, recordId })),
    });
  // The first editor's state fits into one item, the second editor's needs several.
  await customer.ok('/v2/crdt/add', { ...scope, editorId: 'notes', type: 'map', data: { mark } });
  await customer.ok('/v2/crdt/versions/add', { ...scope, editorId: 'notes', name: mark });
  await customer.ok('/v2/crdt/add', {
    ...scope,
    editorId: 'report',
    type: 'text',
    data: randomBytes(20_000).toString('hex'),
  });
}
