import * as z from 'zod';
import { Id, UserProfile } from '../../schema.ts';

/** A user as content names one (spec 2): who wrote, reacted, recorded or acted. Only `userId` is required. */
export const ContentUser = UserProfile.extend({ userId: Id });
export type ContentUser = z.output<typeof ContentUser>;

/** The same as it is stored. */
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

/** How many users one comment, reaction, recording or notification can involve (design 5). */
export const MOST_INVOLVED = 50;
