import { type DemoUser, demoUsers } from '../../demoDocument.ts';

/** A mention of a user in a comment. `text` is the part of the comment that mentions the user, such as `@ada`. */
interface Mention {
  readonly userId: string;
  readonly text: string;
}

/** Returns the mentions in a text. A mention is `@` followed by a user id. */
export function mentionsIn(text: string): Mention[] {
  return demoUsers
    .filter(({ userId }) => new RegExp(`@${userId}\\b`, 'i').test(text))
    .map(({ userId }) => ({ userId, text: `@${userId}` }));
}

/** Returns the users whom this user can mention: all others of the demo. */
export function otherUsers(userId: string): DemoUser[] {
  return demoUsers.filter((user) => user.userId !== userId);
}

/** Returns whether a text mentions a user. */
export function isMentioned(userId: string, text: string): boolean {
  return mentionsIn(text).some((user) => user.userId === userId);
}
