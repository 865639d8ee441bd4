import { type MailedType, mailedTypes } from '../../events/rules/catalogue.ts';

const mailed: ReadonlySet<string> = new Set(mailedTypes);

export function isMailed(event: string): event is MailedType {
  return mailed.has(event);
}

export interface HeadlineFacts {
  readonly actor: string;
  readonly mentioned: boolean;
  readonly assigned: boolean;
  /** The recipient started the thread or, for a reaction, wrote the comment. */
  readonly own: boolean;
  readonly assignee: string | undefined;
  readonly status: string | undefined;
  readonly priority: string | undefined;
  readonly icon: string | undefined;
}

const comment = ({ own }: HeadlineFacts) => (own ? 'your comment' : 'a comment');

const phrases: Readonly<Record<MailedType, (of: HeadlineFacts) => string>> = {
  'comment_annotation.add': ({ mentioned, assigned }) => {
    if (mentioned) return 'mentioned you';
    return assigned ? 'assigned you a comment' : 'commented';
  },
  'comment_annotation.assign': ({ assigned, assignee }) => {
    if (assigned) return 'assigned you a comment';
    return assignee ? `assigned a comment to ${assignee}` : 'took back the assignment of a comment';
  },
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
  'comment.add': ({ mentioned, own }) => {
    if (mentioned) return 'mentioned you';
    return own ? 'replied to you' : 'replied';
  },
  'comment.update': ({ mentioned }) => (mentioned ? 'edited a comment that mentions you' : 'edited a comment'),
  'comment.delete': () => 'deleted a comment',
  'comment.reaction_add': (of) => (of.icon ? `reacted with ${of.icon} to ${comment(of)}` : `reacted to ${comment(of)}`),
  'comment.reaction_delete': (of) => `took back a reaction to ${comment(of)}`,
  'huddle.create': () => 'started a huddle',
  'huddle.join': () => 'joined a huddle',
};

export function headline(event: MailedType, facts: HeadlineFacts): string {
  return `${facts.actor} ${phrases[event](facts)}`;
}
