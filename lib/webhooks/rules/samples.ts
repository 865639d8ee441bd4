import { editorUpdateData } from '../../editors/rules/editorUpdatePayload.ts';
import { versionRestoreData } from '../../editors/rules/restorePayload.ts';
import type { EventType } from '../../events/rules/catalogue.ts';
import { type EventPayload, sourceOf } from '../../events/rules/payload.ts';

export interface SampleEvent {
  readonly event: EventType;
  readonly organizationId: string;
  readonly documentId: string;
  readonly payload: EventPayload;
}

const AT = Date.UTC(2026, 0, 15, 9, 30);
const ISO = '2026-01-15T09:30:00.000Z';

const ada = { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', photoUrl: 'https://example.com/ada.png' };
const grace = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' };

const open = { id: 'OPEN', name: 'Open', type: 'default' };
const resolved = { id: 'RESOLVED', name: 'Resolved', type: 'terminal' };
const high = { id: 'P1', name: 'High' };

const comment = {
  commentId: 153783,
  type: 'text',
  status: 'added',
  commentText: 'Shall we say "engine" here, @Grace Hopper?',
  commentHtml: '<p>Shall we say "engine" here, <a>@Grace Hopper</a>?</p>',
  from: ada,
  to: [grace],
  taggedUserContacts: [{ userId: 'grace', text: '@Grace Hopper', contact: grace }],
  attachments: [],
  createdAt: AT,
  lastUpdated: ISO,
};
const reply = {
  ...comment,
  commentId: 153784,
  commentText: 'Yes, please.',
  commentHtml: '<p>Yes, please.</p>',
  from: grace,
  to: [],
  taggedUserContacts: [],
};

const thread = {
  annotationId: 'ann-7f3c',
  type: 'comment',
  commentType: 'manual',
  from: ada,
  comments: [comment],
  status: open,
  location: { id: 'chapter-1', locationName: 'Chapter 1' },
  targetElement: { elementId: 'p-3', targetText: 'analytical machine', occurrence: 1 },
  involvedUserIds: ['ada', 'grace'],
  mentionedUserIds: ['grace'],
  createdAt: AT,
  lastUpdated: AT,
};
const suggestion = { ...thread, type: 'suggestion', suggestion: { status: 'accepted', from: 'machine', to: 'engine' } };

const asset = {
  version: 1,
  url: 'https://example.com/recordings/rec-5b1.mp4',
  mimeType: 'video/mp4',
  fileName: 'rec-5b1.mp4',
  fileSizeInBytes: 184320,
  fileFormat: 'mp4',
  thumbnailUrl: 'https://example.com/recordings/rec-5b1.png',
};
const transcription = {
  transcriptSegments: [
    { startTime: '00:00:00', endTime: '00:00:02', startTimeInSeconds: 0, endTimeInSeconds: 2, text: 'Hello, Grace.' },
  ],
  vttFileUrl: 'https://example.com/recordings/rec-5b1.vtt',
  contentSummary: 'Ada greets Grace.',
};

const run = { executionId: 'exec-41d', definitionId: 'def-release' };
const step = { ...run, stepId: 'legal-review', type: 'approval' };

const data: Readonly<Record<EventType, Readonly<Record<string, unknown>>>> = {
  'comment_annotation.add': { commentAnnotation: thread, targetComment: comment },
  'comment_annotation.assign': { commentAnnotation: { ...thread, assignedTo: grace } },
  'comment_annotation.status_change': {
    commentAnnotation: { ...thread, status: resolved, resolvedByUserId: 'ada' },
    oldStatus: open,
    newStatus: resolved,
  },
  'comment_annotation.priority_change': { commentAnnotation: { ...thread, priority: high }, newPriority: high },
  'comment_annotation.custom_list_change': {
    commentAnnotation: { ...thread, customList: [{ id: 'wording', label: 'Wording' }] },
  },
  'comment_annotation.subscribe': { commentAnnotation: { ...thread, subscribedUsers: [ada] } },
  'comment_annotation.unsubscribe': { commentAnnotation: { ...thread, unsubscribedUsers: [ada] } },
  'comment_annotation.accept': { commentAnnotation: thread },
  'comment_annotation.reject': { commentAnnotation: thread },
  'comment_annotation.approve': { commentAnnotation: thread },
  'comment_annotation.suggestion_accept': { commentAnnotation: suggestion },
  'comment_annotation.suggestion_reject': {
    commentAnnotation: { ...suggestion, suggestion: { ...suggestion.suggestion, status: 'rejected' } },
  },
  'comment.add': { commentAnnotation: { ...thread, comments: [comment, reply] }, targetComment: reply },
  'comment.update': { commentAnnotation: thread, targetComment: { ...comment, status: 'updated', isEdited: true } },
  'comment.delete': { commentAnnotation: { ...thread, comments: [comment] }, targetComment: reply },
  'comment.reaction_add': {
    commentAnnotation: thread,
    targetComment: { ...comment, reactionAnnotationIds: ['rea-1'] },
  },
  'comment.reaction_delete': { commentAnnotation: thread, targetComment: { ...comment, reactionAnnotationIds: [] } },
  'huddle.create': {},
  'huddle.join': {},
  'crdt.update_data': editorUpdateData({
    id: 'editor-1',
    data: 'The engine weaves algebraic patterns.',
    lastUpdatedBy: 'ada',
    sessionId: null,
    lastUpdate: ISO,
  }),
  'crdt.version_restore': versionRestoreData({
    editorId: 'editor-1',
    versionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
    versionName: 'Sent to the client',
    keptVersionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEK',
  }),
  'recorder.done': { recorderId: 'rec-5b1', from: ada, assets: [asset], assetsAllVersions: [asset], transcription },
  'execution.dispatched': { ...run, status: 'running', seq: 1 },
  'execution.completed': { ...run, status: 'completed', seq: 9 },
  'execution.failed': { ...run, status: 'failed', seq: 9 },
  'execution.cancelled': { ...run, status: 'cancelled', seq: 9 },
  'step.awaiting-approval': { ...step, status: 'awaiting-approval', seq: 3 },
  'step.completed': { ...step, status: 'completed', seq: 4 },
  'step.failed': { ...step, status: 'failed', seq: 4 },
  'step.breached': { ...step, status: 'breached', seq: 4 },
  'step.cancelled': { ...step, status: 'cancelled', seq: 4 },
  'group.quorum-met': { ...run, groupId: 'reviewers', seq: 5 },
  'loop.iteration-started': { ...run, loopId: 'until-clean', iteration: 2, seq: 6 },
  'loop.exhausted': { ...run, loopId: 'until-clean', iteration: 5, seq: 8 },
  'message.attempt.exhausted': {
    messageId: 'msg_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
    event: 'comment.add',
    endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
    attempts: 8,
    lastAttempt: { at: ISO, outcome: 'failed', responseStatus: 500 },
  },
  'endpoint.disabled': {
    endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
    firstFailureAt: '2026-01-10T09:30:00.000Z',
    disabledAt: ISO,
  },
};

export function sampleEvent(event: EventType, apiKey: string): SampleEvent {
  const source = sourceOf(event);
  const metadata = {
    apiKey,
    organization: { organizationId: 'acme', organizationName: 'Acme' },
    document: { documentId: 'notes', documentName: 'Notes on the engine' },
  };
  const sampleData =
    source === 'operational' ? { metadata: { apiKey }, ...data[event] } : { actionUser: ada, metadata, ...data[event] };
  return { event, organizationId: 'acme', documentId: 'notes', payload: { source, data: sampleData } };
}
