import type { Customer } from './customer.ts';
import { times } from './times.ts';

/** The user whom tests remove or erase. Each value of the profile occurs nowhere else, so tests can search for it. */
export const ada = {
  userId: 'ada-id',
  name: 'Ada-Name Lovelace',
  email: 'Ada-Mail@example.com',
  photoUrl: 'https://example.com/Ada-Photo.png',
  initial: 'A-L',
  color: 'ada-red',
} as const;
export const grace = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' } as const;
export const max = { userId: 'max', name: 'Max' } as const;
/** The text of ada's comment in grace's thread (`saidToGrace`), and in ada's own thread (`saidByAda`). */
export const saidToGrace = 'Said-to-Grace';
const saidByAda = 'Said-by-Ada';

/** Texts that only this user's profile and comments contain. */
export const traces = ['Ada-Name', 'Ada-Mail', 'ada-mail', 'Ada-Photo', 'A-L', 'ada-red', saidToGrace, saidByAda];

/** Returns the type and the ids of stored records, sorted. */
export const namesOf = (items: readonly Record<string, any>[]) => items.map(nameOf).sort();

export function nameOf({ _t, annotationId, id, email, commentId }: Record<string, any>): string {
  return [_t, annotationId ?? id ?? email, commentId].filter((part) => part !== undefined).join(' ');
}

const mention = (user: typeof ada | typeof grace | typeof max) => ({
  text: `@${user.name}`,
  userId: user.userId,
  contact: user,
});

/**
 * Creates an organization with records of every kind of the user `ada`, and with records of other users. The records
 * are in the document `nda` and in one thread of `offer`. The thread `long` has more comments than one transaction can
 * delete.
 */
export async function createUserRecords(customer: Customer, organizationId: string): Promise<void> {
  const scope = { organizationId, documentId: 'nda' };
  const { ok, untyped } = customer;
  await ok('/v2/organizations/documents/add', {
    organizationId,
    createOrganization: true,
    documents: [{ documentId: 'nda' }, { documentId: 'offer' }],
  });
  await ok('/v2/users/add', { organizationId, users: [ada, grace, max] });
  await ok('/v2/auth/permissions/add', {
    user: { userId: ada.userId },
    permissions: { resources: [{ type: 'document', id: 'nda', organizationId }] },
  });
  await ok('/v2/notifications/config/set', {
    organizationId,
    userIds: [ada.userId, grace.userId],
    config: { inbox: 'MINE' },
  });
  await ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  const toNda = { ...scope, type: 'doc_user' as const };
  const invitedBy = { email: ada.email, userId: ada.userId, clientUserId: ada.userId };
  await ok('/v2/users/invite/add', { ...toNda, email: ada.email.toLowerCase() });
  await ok('/v2/users/invite/add', { ...toNda, email: 'guest@example.com', invitedBy });

  await ok('/v2/commentannotations/add', {
    ...scope,
    commentAnnotations: [
      {
        annotationId: 'byAda',
        commentData: [
          { commentText: saidByAda, from: ada },
          { commentText: 'Grace answers', from: grace, taggedUserContacts: [mention(max)] },
        ],
      },
      {
        annotationId: 'byGrace',
        commentData: [
          { commentText: 'Grace asks', from: grace, taggedUserContacts: [mention(ada)] },
          { commentText: saidToGrace, from: ada, taggedUserContacts: [mention(grace)] },
          { commentText: 'Max writes', from: max, to: [ada, grace], metadata: { reviewer: ada } },
        ],
        assignedTo: ada,
        subscribedUsers: [ada, grace],
        unsubscribedUsers: [ada],
        visibility: { type: 'restricted', userIds: [ada.userId, grace.userId, max.userId] },
        metadata: { owner: ada },
        location: { id: 'page-1', owner: ada },
      },
      { annotationId: 'ofGrace', commentData: [{ commentText: 'Nobody else', from: grace }] },
      {
        annotationId: 'long',
        commentData: times(25, (i) => ({
          commentText: `${saidByAda} ${i}`,
          from: i % 2 ? ada : grace,
        })),
      },
    ],
  });
  await ok('/v2/commentannotations/update', { ...scope, annotationIds: ['long'], updatedData: { from: ada } });
  await ok('/v2/commentannotations/update', {
    ...scope,
    annotationIds: ['byGrace'],
    updatedData: { status: { id: 'IN_PROGRESS', reviewer: ada }, statusUpdatedByUserId: ada.userId },
  });
  await ok('/v2/commentannotations/add', {
    ...scope,
    documentId: 'offer',
    commentAnnotations: [
      {
        annotationId: 'offered',
        commentData: [
          { commentText: 'In the offer', from: grace },
          { commentText: saidToGrace, from: ada },
        ],
      },
    ],
  });

  const reactions = [
    { annotationId: 'both', icon: 'heart', from: ada, commentAnnotationId: 'byGrace', commentId: 1 },
    { annotationId: 'both', icon: 'heart', from: grace, commentAnnotationId: 'byGrace', commentId: 1 },
    { annotationId: 'onlyAda', icon: 'star', from: ada, commentAnnotationId: 'byGrace', commentId: 1 },
    { annotationId: 'onDocument', icon: 'star', from: ada },
    { annotationId: 'onAda', icon: 'heart', from: grace, commentAnnotationId: 'byGrace', commentId: 2 },
    {
      annotationId: 'ofGrace',
      icon: 'heart',
      from: grace,
      commentAnnotationId: 'ofGrace',
      commentId: 1,
      location: { id: 'page-1', owner: ada },
    },
  ];
  await ok('/v2/reactions/add', { ...scope, reactions });
  await ok('/v2/recordings/add', {
    ...scope,
    recordings: [
      { annotationId: 'ofAda', recordingType: 'audio', from: ada, transcription: saidByAda },
      {
        annotationId: 'ofGrace',
        recordingType: 'audio',
        from: grace,
        transcription: { speakers: [ada, grace] },
        location: { id: 'page-1', owner: ada },
      },
    ],
  });
  const headline = { displayHeadlineMessageTemplate: '{actionUser} wrote', displayBodyMessage: 'It is there' };
  const notify = (notificationId: string, more: object) =>
    untyped('/v2/notifications/add', { ...scope, notificationId, notifyAll: false, ...headline, ...more });
  await notify('byAda', { actionUser: ada, notifyUsers: [grace] });
  await notify('toAda', { actionUser: grace, notifyUsers: [ada] });
  await notify('toBoth', {
    actionUser: grace,
    notifyUsers: [ada, max],
    displayHeadlineMessageTemplateData: { actionUser: grace, recipientUser: ada },
    location: { id: 'page-1', owner: ada },
  });
  await notify('toAll', {
    actionUser: grace,
    notifyUsers: [ada],
    notifyAll: true,
    notificationSource: 'comment',
    displayBodyMessage: saidToGrace,
    notificationSourceData: { annotationId: 'byGrace', commentId: 2, commentText: saidToGrace },
  });
  await notify('aboutAda', {
    actionUser: grace,
    notifyUsers: [max],
    notificationSource: 'comment',
    notificationSourceData: { annotationId: 'byAda', commentId: 2, commentText: 'Grace answers' },
  });
  await notify('toMax', { actionUser: grace, notifyUsers: [max] });
  await ok('/v2/notifications/update', {
    organizationId,
    notifications: [{ id: 'toBoth', readByUserIds: [ada.userId, max.userId] }],
  });
  await ok('/v2/activities/add', {
    ...scope,
    activities: [
      {
        id: 'ofAda',
        featureType: 'comment',
        actionType: 'comment.add',
        actionUser: ada,
        entityData: { said: saidByAda },
      },
      {
        id: 'aboutAda',
        featureType: 'comment',
        actionType: 'comment.update',
        actionUser: grace,
        targetEntityId: 'byGrace',
        entityTargetData: { from: ada, commentText: saidToGrace },
        changes: { commentText: { from: saidToGrace, to: 'other' } },
      },
      {
        id: 'withAda',
        featureType: 'comment',
        actionType: 'assigned',
        actionUser: grace,
        entityData: { from: grace, assignedTo: ada },
        changes: { assignedTo: { from: 'max', to: ada.userId } },
      },
      {
        id: 'ofGrace',
        featureType: 'comment',
        actionType: 'comment.add',
        actionUser: grace,
        entityData: { from: grace },
      },
    ],
  });
}
