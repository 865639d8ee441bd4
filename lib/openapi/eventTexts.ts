import type { EventType } from '../events/rules/catalogue.ts';

interface EventText {
  /** A sentence without a full stop. */
  readonly cause: string;
  /** Which call causes the event, who is notified besides webhooks, and what is in the payload. */
  readonly audience: string;
}

const CONCERNED =
  'Mails and inboxes, if the trigger is on: the assignee, the author, mentioned users, other participants and subscribers of the thread, without the actor.';
const THREAD = 'The payload has the thread as `commentAnnotation`, as it is after the change.';
const COMMENT = 'The payload has the comment as `targetComment`, and its thread as `commentAnnotation`.';
const NAMED =
  'Mails and inboxes, if the trigger is on: mentioned users, the assignee and users in `notifyUsers` of the data.';
const ONLY_PUBLISHED = 'Only `/v2/events/publish` causes this event. The payload has your data.';
const WEBHOOKS_ONLY = 'Only webhooks get this event: nobody is mailed or notified.';

function threadChange(cause: string, payload = ''): EventText {
  const update = '`/v2/commentannotations/update` causes it if the call has `triggerNotification`.';
  return { cause, audience: [update, CONCERNED, THREAD, payload].filter(Boolean).join(' ') };
}

function published(cause: string, audience: string): EventText {
  return { cause, audience: `${ONLY_PUBLISHED} ${audience}` };
}

const workflowEvent = (cause: string): EventText => published(cause, WEBHOOKS_ONLY);

export const eventTexts: Readonly<Record<EventType, EventText>> = {
  'comment_annotation.add': {
    cause: 'A comment thread was started',
    audience: `\`/v2/commentannotations/add\` causes it if a comment of the thread has \`triggerNotification\`. ${CONCERNED} The payload has the thread with its comments as \`commentAnnotation\`, and the first one as \`targetComment\`.`,
  },
  'comment_annotation.assign': threadChange('A thread got another assignee, or none'),
  'comment_annotation.status_change': threadChange(
    'The status of a thread became another one',
    '`oldStatus` and `newStatus` are the status before and after.',
  ),
  'comment_annotation.priority_change': threadChange(
    'The priority of a thread became another one',
    '`newPriority` is the priority after the change.',
  ),
  'comment_annotation.custom_list_change': threadChange('The `customList` of a thread got other contents'),
  'comment_annotation.subscribe': threadChange('A user was added to the subscribers of a thread'),
  'comment_annotation.unsubscribe': threadChange('A user was added to the users who unsubscribed from a thread'),
  'comment_annotation.accept': published('Your server reports that a thread was accepted', NAMED),
  'comment_annotation.reject': published('Your server reports that a thread was rejected', NAMED),
  'comment_annotation.approve': published('Your server reports that a thread was approved', NAMED),
  'comment_annotation.suggestion_accept': threadChange('A suggestion got the decision `accepted`'),
  'comment_annotation.suggestion_reject': threadChange('A suggestion got the decision `rejected`'),
  'comment.add': {
    cause: 'A reply was added to a thread',
    audience: `\`/v2/commentannotations/comments/add\` causes it for each comment with \`triggerNotification\`. ${CONCERNED} ${COMMENT}`,
  },
  'comment.update': {
    cause: 'The text or another field of a comment was changed',
    audience: `\`/v2/commentannotations/comments/update\` causes it if the call has \`triggerNotification\`. A repeated call causes it again. ${CONCERNED} ${COMMENT}`,
  },
  'comment.delete': {
    cause: 'A comment or a whole thread was deleted',
    audience: `\`/v2/commentannotations/comments/delete\` and \`/v2/commentannotations/delete\` cause it if the call has \`triggerNotification\`. ${CONCERNED} The payload has the content as it was before. \`targetComment\` is missing if a thread with several comments was deleted.`,
  },
  'comment.reaction_add': {
    cause: 'A user reacted to a comment',
    audience: `\`/v2/reactions/add\` always causes it for a reaction on a comment. Mails and inboxes, if the trigger is on: the author of the comment, other participants and subscribers of the thread. ${COMMENT} Its \`reactionAnnotations\` has the reaction.`,
  },
  'comment.reaction_delete': {
    cause: 'A reaction was removed from a comment',
    audience: `\`/v2/reactions/delete\` always causes it for a reaction on a comment. Mails and inboxes, if the trigger is on: the author of the comment, other participants and subscribers of the thread. ${COMMENT} Its \`reactionAnnotations\` has the reaction with the users who were removed.`,
  },
  'huddle.create': published('Your server reports that a call among users was opened', NAMED),
  'huddle.join': published('Your server reports that a user entered a call', NAMED),
  'crdt.update_data': {
    cause: 'The content of an editor was changed',
    audience: `It is sent five seconds after the first change and covers the changes in between. \`/v2/crdt/updates/push\` and \`/v2/crdt/update\` cause it. ${WEBHOOKS_ONLY} The payload has the value of the editor as \`crdtData\`.`,
  },
  'crdt.version_restore': {
    cause: 'A version of an editor was restored',
    audience: `\`/v2/crdt/versions/restore\` causes it, and \`crdt.update_data\` follows. ${WEBHOOKS_ONLY} The payload has the ids of the restored version and of the version before as \`crdtVersion\`.`,
  },
  'recorder.done': {
    cause: 'A recording was stored',
    audience: `\`/v2/recordings/add\` always causes it for a new recording. ${WEBHOOKS_ONLY} The payload has the files as \`assets\`.`,
  },
  'execution.dispatched': workflowEvent('Your workflow reports that an execution began'),
  'execution.completed': workflowEvent('Your workflow reports that an execution ended well'),
  'execution.failed': workflowEvent('Your workflow reports that an execution ended with an error'),
  'execution.cancelled': workflowEvent('Your workflow reports that an execution was stopped'),
  'step.awaiting-approval': workflowEvent('Your workflow reports that a step needs the decision of a reviewer'),
  'step.completed': workflowEvent('Your workflow reports that a step ended well'),
  'step.failed': workflowEvent('Your workflow reports that a step ended with an error'),
  'step.breached': workflowEvent('Your workflow reports that a step took longer than agreed'),
  'step.cancelled': workflowEvent('Your workflow reports that a step was stopped'),
  'group.quorum-met': workflowEvent('Your workflow reports that enough members of a group of steps approved'),
  'loop.iteration-started': workflowEvent('Your workflow reports that a loop runs once more'),
  'loop.exhausted': workflowEvent('Your workflow reports that a loop may not run again'),
  'message.attempt.exhausted': {
    cause: 'A delivery failed, and no attempt remains',
    audience:
      'Endpoints that select this type get it, the failing one too. A delivery of this type or of `endpoint.disabled` never causes it. The payload names the message and its last attempt. `/v2/workspace/advancedwebhook/messages/resend` sends the message again.',
  },
  'endpoint.disabled': {
    cause: 'The service switched off an endpoint after five days without a success',
    audience:
      'Your other endpoints get it. The payload has the endpoint, and when its failures began. Switch it on with `/v2/workspace/advancedwebhook/endpoints/update`, then send what it missed with `/v2/workspace/advancedwebhook/endpoints/recover`.',
  },
};
