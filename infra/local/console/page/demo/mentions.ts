import { type DemoUser, demoUsers } from '../../demoDocument.ts';

/** A mention of a user in a comment. `text` is the mention as it stands in the comment. */
interface Mention {
  readonly userId: string;
  readonly text: string;
}

/** Returns the mentions in a text. A mention is `@` and a user id. */
export function mentionsIn(text: string): Mention[] {
  return demoUsers
    .filter(({ userId }) => new RegExp(`@${userId}\\b`, 'i').test(text))
    .map(({ userId }) => ({ userId, text: `@${userId}` }));
}

/** Returns the users whom a user can mention. */
export function otherUsers(userId: string): DemoUser[] {
  return demoUsers.filter((user) => user.userId !== userId);
}

/** Returns whether a text mentions a user. */
export function isMentioned(userId: string, text: string): boolean {
  return mentionsIn(text).some((user) => user.userId === userId);
}
