/** A user of the demo page. */
export interface DemoUser {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** The colour of the user's cursor and avatar, as `#rrggbb`. It is dark enough for white text. */
  readonly colour: string;
}

export const demoUsers: readonly [DemoUser, ...DemoUser[]] = [
  { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', colour: '#a3327f' },
  { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com', colour: '#1d6f5f' },
];

export const demoDocument = { organizationId: 'demo', documentId: 'welcome' };

/** The editor in the demo document. `contentKey` names the text in its Yjs document. */
export const demoEditor = { editorId: 'text', contentKey: 'content' };

export interface TokenRequest {
  readonly userId: string;
}

export interface TokenAnswer {
  readonly token: string;
}
