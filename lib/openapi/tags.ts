import { familyOf } from '../app/endpoint.ts';

export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** What each family of endpoints is for, by its name without the version; a test asserts that there is one for each. */
const descriptions: Readonly<Record<string, string>> = {
  activities: 'The activity log: what happened, as your application and this service record it.',
  agents: 'Review agents, their versions and groups, and reading them out of a file of guidelines.',
  auth: 'Who may see what: grants on organizations, folders and documents.',
  commentannotations: 'Comment threads on documents, with their comments.',
  crdt: 'The state of collaborative editors: as values, and as updates that Yjs clients merge.',
  events: 'Publishing events of your own to everything that is configured to hear of them.',
  memory: 'What reviewers decided: recording it, and searching it by meaning.',
  notifications: 'In-app notifications, and how much of what happens reaches each user.',
  organizations: 'Organizations with their folders, documents and groups of users.',
  reactions: 'Reactions to comments.',
  recordings: 'Recordings of sound, video and screen.',
  users: 'Users: adding, reading and removing them, and everything that is known of one.',
  workspace:
    'The workspace itself: API keys and tokens, domains, configuration, webhooks and the verification of its owner.',
};

/** The tags of the families of these paths, in the order of their names. */
export function familyTags(paths: readonly string[]): Tag[] {
  const families = [...new Set(paths.map(familyOf))].sort();
  return families.map((name) => ({ name, description: descriptions[name.slice(name.indexOf('/') + 1)] ?? '' }));
}
