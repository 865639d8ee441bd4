import type { Audience } from './payload.ts';

/** What a user is notified of on a channel: everything, only what addresses the user, or nothing. */
export const notificationLevels = ['ALL', 'MINE', 'NONE'] as const;
export type NotificationLevel = (typeof notificationLevels)[number];

export const notificationChannels = ['inbox', 'email', 'slack'] as const;
export type NotificationChannel = (typeof notificationChannels)[number];

/** A user's levels by channel. A missing level means `ALL`. */
export type NotificationLevels = { readonly [C in NotificationChannel]?: NotificationLevel | undefined };

/** Returns the levels of a user for one document. By channel: the level for the document, else for the organization, else `ALL`. */
export function levelsFor(
  organization: NotificationLevels | undefined,
  document: NotificationLevels | undefined,
): Record<NotificationChannel, NotificationLevel> {
  const level = (channel: NotificationChannel) => document?.[channel] ?? organization?.[channel] ?? 'ALL';
  return { inbox: level('inbox'), email: level('email'), slack: level('slack') };
}

/** The settings and access rights that decide about recipients. */
export interface RecipientRules {
  levelsOf(userId: string): Record<NotificationChannel, NotificationLevel>;
  /** Whether the user may see the content of the event. */
  maySee(userId: string): boolean;
}

/**
 * Returns the recipients of an event on a channel, addressed users first. Addressed users need level `ALL` or `MINE`, followers `ALL`. The
 * actor and users without access are never recipients.
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
