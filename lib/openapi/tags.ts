import { familyOf } from '../app/endpoint.ts';

export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** By family name without the version. A test requires every family here. */
const descriptions: Readonly<Record<string, string>> = {
  activities: 'The activity log, which your application and this service write.',
  agents: 'Review agents, their versions and groups, and making agents from a file of guidelines.',
  auth: 'Permissions: grants on organizations, folders and documents.',
  commentannotations: 'Comment threads on documents, with their comments.',
  crdt: 'The state of collaborative editors, as values and as updates that Yjs clients merge.',
  events: 'Publishing events of your own to webhooks, mail and notifications.',
  live: 'The push channel: connecting, and the changes that a client missed.',
  livestate: 'Live data of a document, which everybody who has the document open gets.',
  memory: 'Judgments of reviewers: recording them, and searching them by meaning.',
  notifications: "In-app notifications, and each user's settings for notifications.",
  organizations: 'Organizations with their folders, documents and groups of users.',
  presence: 'Who is in a document now.',
  reactions: 'Reactions to comments.',
  recordings: 'Recordings of sound, video and screen.',
  users: 'Users: adding, reading and removing them, and all data of a user.',
  workspace:
    'The workspace itself: API keys and tokens, domains, configuration, webhooks and the verification of its owner.',
};

const CURRENT = 'v2';

/**
 * Returns `users` for `/v2/users/add`, and `v1 users` for `/v1/users/add`. A slash would break links in tools that read
 * the document.
 */
export function tagOf(path: string): string {
  const [version, family = ''] = familyOf(path).split('/');
  return version === CURRENT ? family : `${version} ${family}`;
}

export function inReadingOrder(a: string, b: string): number {
  const isCurrent = (path: string) => path.startsWith(`/${CURRENT}/`);
  return Number(isCurrent(b)) - Number(isCurrent(a)) || (a < b ? -1 : Number(a > b));
}

export function familyTags(paths: readonly string[]): Tag[] {
  const names = new Set(paths.toSorted(inReadingOrder).map(tagOf));
  return [...names].map((name) => ({ name, description: descriptions[name.slice(name.indexOf(' ') + 1)] ?? '' }));
}
