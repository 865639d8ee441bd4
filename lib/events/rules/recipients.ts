import type { Audience } from './payload.ts';

/** The events of which a user is notified on a channel: all events, only events that address the user (`MINE`), or none. */
export const notificationLevels = ['ALL', 'MINE', 'NONE'] as const;
export type NotificationLevel = (typeof notificationLevels)[number];

export const notificationChannels = ['inbox', 'email', 'slack'] as const;
export type NotificationChannel = (typeof notificationChannels)[number];

/** A user's levels by channel. A missing level means `ALL`. */
export type NotificationLevels = { readonly [C in NotificationChannel]?: NotificationLevel | undefined };

/**
 * Returns a user's level on each channel: the level for the document, otherwise the level for the organization, otherwise `ALL`.
 */
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
 * Returns the recipients of an event on a channel, addressed users first. An addressed user needs the level `ALL` or `MINE`, any
 * other user needs `ALL`. The actor and users without access are never recipients.
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
