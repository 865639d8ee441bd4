import { type TriggerType, triggerTypes } from '../../events/rules/catalogue.ts';

/** The types of event that are mailed: of comments and huddles. The others have nobody in particular to be told. */
export type MailedType = Extract<
  TriggerType,
  `comment_annotation.${string}` | `comment.${string}` | `huddle.${string}`
>;

const mailed: ReadonlySet<string> = new Set(
  triggerTypes.filter((type) => /^(comment_annotation|comment|huddle)\./.test(type)),
);

export function isMailed(event: string): event is MailedType {
  return mailed.has(event);
}

/** What a headline is made of. Names are one line each. */
export interface HeadlineFacts {
  /** Who did it. */
  readonly actor: string;
  /** Whether it mentions the recipient, is assigned to the recipient, is about a comment of the recipient's. */
  readonly mentioned: boolean;
  readonly assigned: boolean;
  readonly own: boolean;
  /** Whom the thread is assigned to. */
  readonly assignee: string | undefined;
  readonly status: string | undefined;
  readonly priority: string | undefined;
  /** An emoji; not what is only a name of one. */
  readonly icon: string | undefined;
}

const comment = ({ own }: HeadlineFacts) => (own ? 'your comment' : 'a comment');

/** What each type of event says in one line, after who did it. */
const phrases: Readonly<Record<MailedType, (of: HeadlineFacts) => string>> = {
  'comment_annotation.add': ({ mentioned, assigned }) =>
    mentioned ? 'mentioned you' : assigned ? 'assigned you a comment' : 'commented',
  'comment_annotation.assign': ({ assigned, assignee }) =>
    assigned
      ? 'assigned you a comment'
      : assignee
        ? `assigned a comment to ${assignee}`
        : 'took back the assignment of a comment',
  'comment_annotation.status_change': (of) =>
    of.status ? `changed the status of ${comment(of)} to ${of.status}` : `changed the status of ${comment(of)}`,
  'comment_annotation.priority_change': (of) =>
    of.priority ? `changed the priority of ${comment(of)} to ${of.priority}` : `changed the priority of ${comment(of)}`,
  'comment_annotation.custom_list_change': (of) => `changed the list of ${comment(of)}`,
  'comment_annotation.subscribe': (of) => `subscribed to ${comment(of)}`,
  'comment_annotation.unsubscribe': (of) => `unsubscribed from ${comment(of)}`,
  'comment_annotation.accept': (of) => `accepted ${comment(of)}`,
  'comment_annotation.reject': (of) => `rejected ${comment(of)}`,
  'comment_annotation.approve': (of) => `approved ${comment(of)}`,
  'comment_annotation.suggestion_accept': ({ own }) => (own ? 'accepted your suggestion' : 'accepted a suggestion'),
  'comment_annotation.suggestion_reject': ({ own }) => (own ? 'rejected your suggestion' : 'rejected a suggestion'),
  'comment.add': ({ mentioned, own }) => (mentioned ? 'mentioned you' : own ? 'replied to you' : 'replied'),
  'comment.update': ({ mentioned }) => (mentioned ? 'edited a comment that mentions you' : 'edited a comment'),
  'comment.delete': () => 'deleted a comment',
  'comment.reaction_add': (of) => (of.icon ? `reacted with ${of.icon} to ${comment(of)}` : `reacted to ${comment(of)}`),
  'comment.reaction_delete': (of) => `took back a reaction to ${comment(of)}`,
  'huddle.create': () => 'started a huddle',
  'huddle.join': () => 'joined a huddle',
};

/** What happened, in one line: `Ada mentioned you`. */
export function headline(event: MailedType, circumstances: HeadlineFacts): string {
  return `${circumstances.actor} ${phrases[event](circumstances)}`;
}
