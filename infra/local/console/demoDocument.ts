/** A user of the demo page. */
export interface DemoUser {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** The colour of the user's cursor and avatar, as `#rrggbb`. White text on it is readable. */
  readonly colour: string;
}

/** The users of the demo page. */
export const demoUsers: readonly [DemoUser, ...DemoUser[]] = [
  { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', colour: '#a3327f' },
  { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com', colour: '#1d6f5f' },
];

/** The document of the demo page. */
export const demoDocument = { organizationId: 'demo', documentId: 'welcome' };

/** The editor of the demo document, and the name of the text in its Yjs document. */
export const demoEditor = { editorId: 'text', contentKey: 'content' };

/** The request for a user token. */
export interface TokenRequest {
  readonly userId: string;
}

/** The response with a user token. */
export interface TokenAnswer {
  readonly token: string;
}
