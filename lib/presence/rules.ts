import * as z from 'zod';
import { defineNamedSchema, defineSchema, Id, limits, list, Name, optional } from '../shared/schema.ts';

export const presenceStatuses = ['online', 'away', 'offline'] as const;
export type PresenceStatus = (typeof presenceStatuses)[number];

/** The shortest and the longest lease, in seconds. */
const leaseLimits = { least: 5, most: 600 } as const;

/** The lease in seconds of a call that sends none. It depends on the credentials of the call. */
export const defaultLease = { apiKey: 600, user: 30 } as const;

/** The largest number of users in one call. */
const MAX_USERS = 100;

/** A user in a call of `/v2/presence/add` or `/v2/presence/update`. */
const SentUser = /* @__PURE__ */ defineNamedSchema('PresenceInput', () =>
  z
    .object({
      userId: Id,
      name: optional(Name).describe('The name that others see. With a user token that of the stored profile.'),
      email: optional(Name).describe(
        'The e-mail address that others see. With a user token that of the stored profile.',
      ),
      status: optional(z.enum(presenceStatuses)).describe('What others see. By default `online`.'),
      leaseSeconds: optional(z.int().min(leaseLimits.least).max(leaseLimits.most)).describe(
        'After how many seconds the presence ends, unless another call renews it. By default 600 for an API key and 30 for a user token.',
      ),
    })
    .describe('A user who is present.'),
);
export type SentUser = z.output<typeof SentUser>;

/** Returns the presence that a browser sent, but with the name and e-mail address of the user's stored profile. */
export function withProfile(
  user: SentUser,
  profile: { readonly name?: string | undefined; readonly email?: string | undefined },
): SentUser {
  return { ...user, name: profile.name, email: profile.email };
}

/** The `data` of `/v2/presence/add` and `/v2/presence/update`. */
export const PresenceCall = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    documentId: Id,
    users: list(SentUser, MAX_USERS).describe('The users who are present.'),
  }),
);

/** The `data` of `/v2/presence/delete`. */
export const PresenceDeletion = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    documentId: Id,
    userIds: list(Id, limits.list).describe('The users who leave.'),
  }),
);

/** The presence of a user in a document, as it is stored. */
export const Presence = /* @__PURE__ */ defineSchema(() =>
  z.object({
    userId: z.string(),
    name: z.string().optional(),
    email: z.string().optional(),
    status: z.enum(presenceStatuses),
    leaseSeconds: z.number(),
    /** The end of the lease, epoch milliseconds. Absent if the user has left. */
    leaseEndsAt: z.number().optional(),
    /** The time of the last change that other users see, epoch milliseconds. It grows with each such change. */
    changedAt: z.number(),
    /** Whether the last write changed something that other users see. A renewal of the lease does not. */
    isVisibleChange: z.boolean(),
  }),
);
export type Presence = z.output<typeof Presence>;

/** The presence of a user in an answer. */
export const PresenceResponse = /* @__PURE__ */ defineNamedSchema('Presence', () =>
  z
    .object({
      userId: z.string(),
      name: z.string().describe('The name that others see.').optional(),
      email: z.string().describe('The e-mail address. A user token gets only its own.').optional(),
      status: z.enum(presenceStatuses).describe('What others see.'),
      leaseEndsAt: z.number().describe('When the presence ends unless a call renews it, in epoch milliseconds.'),
      changedAt: z.number().describe('When name, address or status last changed, in epoch milliseconds.'),
    })
    .describe('A user who is present in a document.'),
);
export type PresenceResponse = z.output<typeof PresenceResponse>;

/** Returns whether a user is present at the time `now` (epoch milliseconds). */
export function isPresent(presence: Presence, now: number): presence is Presence & { readonly leaseEndsAt: number } {
  return presence.leaseEndsAt !== undefined && presence.leaseEndsAt > now;
}

/** What happens to fields that a call leaves out: `add` resets them, `update` keeps them. */
export type PresenceMode = 'add' | 'update';

/** How a call changes presences. */
export interface Renewal {
  readonly mode: PresenceMode;
  /** Seconds. */
  readonly defaultLease: number;
  readonly now: number;
}

/**
 * Returns the presence of a user after a call. A user who is not present joins, also by an update. If the call has no lease, an
 * update keeps the lease of a user who is present. Otherwise `defaultLease` (seconds) is used.
 */
export function renewPresence(
  stored: Presence | undefined,
  { userId, ...sent }: SentUser,
  { mode, defaultLease, now }: Renewal,
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

/** Returns the presence of a user who leaves: without a lease, name and e-mail address. */
export function endPresence(stored: Presence, now: number): Presence {
  const { userId, status, leaseSeconds } = stored;
  return { userId, status, leaseSeconds, changedAt: nextChange(stored, now), isVisibleChange: true };
}

/**
 * Returns the time of a change, at least 1 ms after the stored time. The clocks of functions differ a little, so `now` can be
 * earlier than that.
 */
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

/** What is published on the channel of the document when a presence changes. */
export type PresenceMessage =
  | { readonly type: 'presence.update'; readonly at: number; readonly user: PresenceResponse }
  | { readonly type: 'presence.remove'; readonly at: number; readonly userId: string };

/**
 * Returns what to publish about a stored presence, or undefined if the last write changed nothing that other users see.
 * After the end of a lease, the removal is published only when the sweep ends the presence.
 */
export function presenceMessage(presence: Presence): PresenceMessage | undefined {
  const { userId, leaseEndsAt, changedAt, isVisibleChange } = presence;
  if (!isVisibleChange) return undefined;
  return leaseEndsAt === undefined
    ? { type: 'presence.remove', at: changedAt, userId }
    : { type: 'presence.update', at: changedAt, user: toPresenceResponse({ ...presence, leaseEndsAt }) };
}
