import * as z from 'zod';
import { defineNamedSchema, defineSchema, Id, limits, list, Name, optional } from '../shared/schema.ts';

export const presenceStatuses = ['online', 'away', 'offline'] as const;
export type PresenceStatus = (typeof presenceStatuses)[number];

/** In seconds. */
const leaseLimits = { least: 5, most: 600 } as const;

/** In seconds, by the credentials of the call. */
export const defaultLease = { apiKey: 600, user: 30 } as const;

const MAX_USERS = 100;

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

/** A call with a user token cannot choose the name and the e-mail address: those of the stored profile count. */
export function withProfile(
  user: SentUser,
  profile: { readonly name?: string | undefined; readonly email?: string | undefined },
): SentUser {
  return { ...user, name: profile.name, email: profile.email };
}

export const PresenceCall = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    documentId: Id,
    users: list(SentUser, MAX_USERS).describe('The users who are present.'),
  }),
);

export const PresenceDeletion = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    documentId: Id,
    userIds: list(Id, limits.list).describe('The users who leave.'),
  }),
);

export const Presence = /* @__PURE__ */ defineSchema(() =>
  z.object({
    userId: z.string(),
    name: z.string().optional(),
    email: z.string().optional(),
    status: z.enum(presenceStatuses),
    leaseSeconds: z.number(),
    /** Epoch milliseconds. Absent if the user has left. */
    leaseEndsAt: z.number().optional(),
    /** Epoch milliseconds of the last change that other users see. It grows with each such change. */
    changedAt: z.number(),
    /** A renewal of the lease is not visible. */
    isVisibleChange: z.boolean(),
  }),
);
export type Presence = z.output<typeof Presence>;

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

export function isPresent(presence: Presence, now: number): presence is Presence & { readonly leaseEndsAt: number } {
  return presence.leaseEndsAt !== undefined && presence.leaseEndsAt > now;
}

/** `add` resets the fields that a call leaves out, `update` keeps those of a user who is present. */
export type PresenceMode = 'add' | 'update';

export interface Renewal {
  readonly mode: PresenceMode;
  readonly defaultLease: number;
  readonly now: number;
}

/**
 * A user who is not present joins, also by an update. An update without a lease keeps the lease of a user who is
 * present, any other call without one gets `defaultLease`.
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

export function endPresence(stored: Presence, now: number): Presence {
  const { userId, status, leaseSeconds } = stored;
  return { userId, status, leaseSeconds, changedAt: nextChange(stored, now), isVisibleChange: true };
}

/** The clocks of functions differ a little, so `now` can be earlier than the stored time. */
function nextChange(stored: Presence | undefined, now: number): number {
  return Math.max(now, (stored?.changedAt ?? 0) + 1);
}

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

export type PresenceMessage =
  | { readonly type: 'presence.update'; readonly at: number; readonly user: PresenceResponse }
  | { readonly type: 'presence.remove'; readonly at: number; readonly userId: string };

export function presenceMessage(presence: Presence): PresenceMessage | undefined {
  const { userId, leaseEndsAt, changedAt, isVisibleChange } = presence;
  if (!isVisibleChange) return undefined;
  return leaseEndsAt === undefined
    ? { type: 'presence.remove', at: changedAt, userId }
    : { type: 'presence.update', at: changedAt, user: toPresenceResponse({ ...presence, leaseEndsAt }) };
}
