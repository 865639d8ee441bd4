import * as z from 'zod';
import { closedObject, Id, limits, list, Name, optional } from '../shared/schema.ts';

export const presenceStatuses = ['online', 'away', 'offline'] as const;
export type PresenceStatus = (typeof presenceStatuses)[number];

/** The shortest and the longest lease, in seconds. */
const leaseLimits = { least: 5, most: 600 } as const;

/** The default lease by the credentials of the call, in seconds. */
export const defaultLease = { apiKey: 600, user: 30 } as const;

/** The largest number of users in one call. */
const MAX_USERS = 100;

/** A user in a call of `/v2/presence/add` or `/v2/presence/update`. */
const SentUser = z.object({
  userId: Id,
  name: optional(Name),
  email: optional(Name),
  status: optional(z.enum(presenceStatuses)),
  /** How long the presence lasts unless another call renews it. */
  leaseSeconds: optional(z.int().min(leaseLimits.least).max(leaseLimits.most)),
});
export type SentUser = z.output<typeof SentUser>;

/** Returns the presence that a browser sent, with the name and the address of the stored profile of its user. */
export function withProfile(
  user: SentUser,
  profile: { readonly name?: string | undefined; readonly email?: string | undefined },
): SentUser {
  return { ...user, name: profile.name, email: profile.email };
}

/** The `data` of `/v2/presence/add` and `/v2/presence/update`. */
export const PresenceCall = z.object({ organizationId: Id, documentId: Id, users: list(SentUser, MAX_USERS) });

/** The `data` of `/v2/presence/delete`. */
export const PresenceDeletion = closedObject({
  organizationId: Id,
  documentId: Id,
  userIds: list(Id, limits.list),
});

/** The presence of a user in a document, as it is stored. */
export const Presence = z.object({
  userId: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  status: z.enum(presenceStatuses),
  leaseSeconds: z.number(),
  /** The end of the lease, epoch milliseconds. Absent if the user has left. */
  leaseEndsAt: z.number().optional(),
  /** The time of the last change that others see, epoch milliseconds. It grows with each such change. */
  changedAt: z.number(),
  /** Whether this write changed something that others see. A renewal alone does not. */
  isVisibleChange: z.boolean(),
});
export type Presence = z.output<typeof Presence>;

/** The presence of a user in an answer. */
export const PresenceResponse = z.object({
  userId: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  status: z.enum(presenceStatuses),
  /** The end of the lease, epoch milliseconds. */
  leaseEndsAt: z.number(),
  /** The time of the last change of the name, the e-mail address or the status, epoch milliseconds. */
  changedAt: z.number(),
});
export type PresenceResponse = z.output<typeof PresenceResponse>;

/** Returns whether a user is present at a time, epoch milliseconds. */
export function isPresent(presence: Presence, now: number): presence is Presence & { readonly leaseEndsAt: number } {
  return presence.leaseEndsAt !== undefined && presence.leaseEndsAt > now;
}

/** How a call treats the fields that it leaves out: `add` resets them, `update` keeps them. */
export type PresenceMode = 'add' | 'update';

/**
 * Returns the presence of a user after a call. The last call wins. A user who is not present joins, also by an update.
 * `defaultLease` (seconds) counts unless the call or, for an update, the stored presence has one.
 */
export function renewPresence(
  stored: Presence | undefined,
  { userId, ...sent }: SentUser,
  { mode, defaultLease, now }: { readonly mode: PresenceMode; readonly defaultLease: number; readonly now: number },
): Presence {
  const earlier = stored && isPresent(stored, now) ? stored : undefined;
  const base = mode === 'update' ? earlier : undefined;
  const status = sent.status ?? base?.status ?? 'online';
  const leaseSeconds = sent.leaseSeconds ?? base?.leaseSeconds ?? defaultLease;
  const visible = { name: sent.name ?? base?.name, email: sent.email ?? base?.email, status };
  const isVisibleChange =
    !earlier || earlier.name !== visible.name || earlier.email !== visible.email || earlier.status !== visible.status;
  return {
    userId,
    ...visible,
    leaseSeconds,
    leaseEndsAt: now + leaseSeconds * 1000,
    changedAt: isVisibleChange ? nextChange(stored, now) : (stored as Presence).changedAt,
    isVisibleChange,
  };
}

/** Returns the presence of a user who leaves. */
export function endPresence(stored: Presence, now: number): Presence {
  const { userId, status, leaseSeconds } = stored;
  return { userId, status, leaseSeconds, changedAt: nextChange(stored, now), isVisibleChange: true };
}

/** The clocks of functions differ a little. A later change must have a later time than the stored change. */
function nextChange(stored: Presence | undefined, now: number): number {
  return Math.max(now, (stored?.changedAt ?? 0) + 1);
}

/** Returns the response body of a presence. */
export function toPresenceResponse({
  userId,
  name,
  email,
  status,
  leaseEndsAt,
  changedAt,
}: Presence & { readonly leaseEndsAt: number }): PresenceResponse {
  return { userId, name, email, status, leaseEndsAt, changedAt };
}

/** The message of a changed presence on the channel of the document. */
export type PresenceMessage =
  | { readonly type: 'presence.update'; readonly at: number; readonly user: PresenceResponse }
  | { readonly type: 'presence.remove'; readonly at: number; readonly userId: string };

/**
 * Returns the message of a stored presence. Returns undefined if the last write changed nothing that others see. A presence
 * whose lease has ended is an update until the sweep ends it. The message of the removal follows then.
 */
export function presenceMessage(presence: Presence): PresenceMessage | undefined {
  const { userId, leaseEndsAt, changedAt, isVisibleChange } = presence;
  if (!isVisibleChange) return undefined;
  return leaseEndsAt === undefined
    ? { type: 'presence.remove', at: changedAt, userId }
    : { type: 'presence.update', at: changedAt, user: toPresenceResponse({ ...presence, leaseEndsAt }) };
}
