import type { Audience } from './payload.ts';

/** `MINE`: only events that address the user. */
export const notificationLevels = ['ALL', 'MINE', 'NONE'] as const;
export type NotificationLevel = (typeof notificationLevels)[number];

export const notificationChannels = ['inbox', 'email', 'slack'] as const;
export type NotificationChannel = (typeof notificationChannels)[number];

export type NotificationLevels = { readonly [C in NotificationChannel]?: NotificationLevel | undefined };

const defaultLevels: Record<NotificationChannel, NotificationLevel> = { inbox: 'ALL', email: 'ALL', slack: 'MINE' };

/** The level for the document precedes that for the organization. */
export function levelsFor(
  organization: NotificationLevels | undefined,
  document: NotificationLevels | undefined,
): Record<NotificationChannel, NotificationLevel> {
  const level = (channel: NotificationChannel) =>
    document?.[channel] ?? organization?.[channel] ?? defaultLevels[channel];
  return { inbox: level('inbox'), email: level('email'), slack: level('slack') };
}

export interface RecipientRules {
  levelsOf(userId: string): Record<NotificationChannel, NotificationLevel>;
  maySee(userId: string): boolean;
  /** The present id of the document of the event, or the id that a running migration gives to it. */
  readonly documentId: string | undefined;
  /** Internal ids. Undefined if nobody is a recipient. */
  readonly location: { readonly organizationKey: string; readonly documentKey: string | undefined } | undefined;
}

/**
 * Addressed users come first and need the level `ALL` or `MINE`, others `ALL`. The actor and users without access are
 * never recipients.
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
