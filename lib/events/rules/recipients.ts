import type { Audience } from './payload.ts';

/** How much of what happens reaches a user on a channel (facts A23): everything, what concerns the user, nothing. */
export const notificationLevels = ['ALL', 'MINE', 'NONE'] as const;
export type NotificationLevel = (typeof notificationLevels)[number];

/** The channels that have a level. */
export const notificationChannels = ['inbox', 'email', 'slack'] as const;
export type NotificationChannel = (typeof notificationChannels)[number];

/** A user's levels by channel; what was never set is `ALL`. */
export type NotificationLevels = { readonly [C in NotificationChannel]?: NotificationLevel | undefined };

/** The levels of a user for one document: its own, else those for the organization, else `ALL`. Channel by channel. */
export function levelsFor(
  organization: NotificationLevels | undefined,
  document: NotificationLevels | undefined,
): Record<NotificationChannel, NotificationLevel> {
  const level = (channel: NotificationChannel) => document?.[channel] ?? organization?.[channel] ?? 'ALL';
  return { inbox: level('inbox'), email: level('email'), slack: level('slack') };
}

/** What decides whether a user is told of an event. */
export interface RecipientRules {
  levelsOf(userId: string): Record<NotificationChannel, NotificationLevel>;
  /** Whether the user may see what it is about. */
  maySee(userId: string): boolean;
}

/**
 * Who is told of an event on a channel (design 6), addressed ones first: those mentioned, assigned or named and the thread's
 * author at levels `ALL` and `MINE`, who else takes part at level `ALL`; never the actor, never one who may not see it.
 */
export function recipientsOf(audience: Audience, channel: NotificationChannel, rules: RecipientRules): string[] {
  const addressed = new Set(audience.addressed);
  const everyone = new Set([...audience.addressed, ...audience.following]);
  return [...everyone].filter((userId) => {
    if (userId === audience.actorId || !rules.maySee(userId)) return false;
    const level = rules.levelsOf(userId)[channel];
    return level === 'ALL' || (level === 'MINE' && addressed.has(userId));
  });
}
