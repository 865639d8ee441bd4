import type { CommentRow, ReactedCommentRow } from './commentResponses.ts';
import type { ThreadRow } from './threadResponses.ts';

const metadata = { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' };

export const exampleComment: CommentRow = {
  commentId: 1,
  type: 'text',
  status: 'added',
  commentText: 'Two years is too long.',
  from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  isEdited: false,
  reactionAnnotationIds: [],
  createdAt: 1767225600000,
  lastUpdated: '2026-01-01T00:00:00.000Z',
  metadata,
  isDraft: false,
  to: [],
  toOrganizationUserGroup: [],
  taggedUserContacts: [],
  attachments: [],
  recorders: [],
  customList: [],
  isCommentTextAvailable: true,
};

export const exampleThread: ThreadRow = {
  annotationId: 'clause-4',
  annotationNumber: 2,
  annotationIndex: 1,
  type: 'comment',
  sourceType: 'rest-api',
  comments: [exampleComment],
  commentCount: 1,
  hasMoreComments: false,
  hasDraftComments: false,
  context: { access: {}, accessFields: [] },
  visibilityConfig: { type: 'public' },
  locationId: null,
  customList: [],
  subscribedUsers: [],
  unsubscribedUsers: [],
  subscribedGroups: [],
  pageInfo: {},
  from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  status: { id: 'OPEN', name: 'Open', type: 'default' },
  involvedUserIds: ['ada'],
  mentionedUserIds: [],
  createdAt: 1767225600000,
  lastUpdated: 1767225600000,
  metadata,
};

export const exampleReactedComment: ReactedCommentRow = {
  ...exampleComment,
  reactionAnnotationIds: ['thumbs-up'],
  reactionAnnotations: [
    {
      annotationId: 'thumbs-up',
      type: 'reaction',
      icon: '👍',
      commentAnnotationId: 'clause-4',
      commentId: 1,
      fromUsers: [{ from: { userId: 'bob' }, lastUpdated: 1_700_000_060_000 }],
      createdAt: 1_700_000_060_000,
      lastUpdated: 1_700_000_060_000,
      metadata,
    },
  ],
};
