export interface DemoUser {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** `#rrggbb` of the cursor and the avatar, dark enough for white text. */
  readonly colour: string;
}

export const demoUsers: readonly [DemoUser, ...DemoUser[]] = [
  { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', colour: '#a3327f' },
  { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com', colour: '#1d6f5f' },
];

export const demoDocument = { organizationId: 'demo', documentId: 'welcome' };

/** `contentKey` names the text in the Yjs document. */
export const demoEditor = { editorId: 'text', contentKey: 'content' };

export interface TokenRequest {
  readonly userId: string;
}

export interface TokenAnswer {
  readonly token: string;
}
