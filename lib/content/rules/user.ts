import * as z from 'zod';
import { Id, UserProfile } from '../../shared/schema.ts';

/** A user in a request: an author, a recipient or an actor. Only `userId` is required. */
export const ContentUser = UserProfile.extend({ userId: Id });
export type ContentUser = z.output<typeof ContentUser>;

/** A user as content stores it. */
export const StoredUser = z.object({
  userId: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  photoUrl: z.string().optional(),
  color: z.string().optional(),
  textColor: z.string().optional(),
  initial: z.string().optional(),
  type: z.string().optional(),
  plan: z.string().optional(),
});

/** The fields of a stored profile that complete a user of a request. */
export type ProfileResponse = Pick<ContentUser, 'name' | 'email' | 'photoUrl'>;

export interface NamedUser {
  readonly name?: unknown;
  readonly email?: unknown;
  readonly photoUrl?: unknown;
}

/** Whether a user of a request has no name or no e-mail address. */
export function isIncomplete({ name, email }: NamedUser): boolean {
  return name === undefined || email === undefined;
}

/** Returns a user of a request with the missing name, e-mail address and avatar from the stored profile. */
export function completeUser<U extends NamedUser>(user: U, profile: ProfileResponse | undefined): U {
  if (!profile || !isIncomplete(user)) return user;
  const { name, email, photoUrl } = profile;
  const missing = Object.entries({ name, email, photoUrl }).filter(
    ([field, value]) => value !== undefined && user[field as keyof NamedUser] === undefined,
  );
  return missing.length > 0 ? { ...user, ...Object.fromEntries(missing) } : user;
}

/** The users that one comment, reaction, recording or notification can involve. */
export const MOST_INVOLVED = 50;
