import { type DemoUser, demoUsers } from '../../demoDocument.ts';

interface Mention {
  readonly userId: string;
  readonly text: string;
}

export function mentionsIn(text: string): Mention[] {
  return demoUsers
    .filter(({ userId }) => new RegExp(`@${userId}\\b`, 'i').test(text))
    .map(({ userId }) => ({ userId, text: `@${userId}` }));
}

export function otherUsers(userId: string): DemoUser[] {
  return demoUsers.filter((user) => user.userId !== userId);
}

export function isMentioned(userId: string, text: string): boolean {
  return mentionsIn(text).some((user) => user.userId === userId);
}
