import * as z from 'zod';
import { isLongerThan } from '../../shared/bytes.ts';
import { Id, list, optional } from '../../shared/schema.ts';

export const visibilityTypes = ['public', 'organizationPrivate', 'restricted'] as const;

/** How many users a private thread can be shown to. */
const MOST_USERS = 500;
/** What a visibility takes as JSON: every event of the thread carries it twice. */
const MOST_BYTES = 32 * 1024;

/** Who may see a thread, as callers send and read it; without one it is public. */
export const Visibility = z
  .object({
    type: z.enum(visibilityTypes),
    /** For `organizationPrivate`: whose members see it; without it those of the organization that the thread lies in. */
    organizationId: optional(Id),
    /** For `restricted`: who sees it besides the author. */
    userIds: optional(list(Id, MOST_USERS, 0)),
  })
  .check(
    z.refine(({ type, userIds }) => type !== 'restricted' || userIds !== undefined, {
      path: ['userIds'],
      error: 'is required for restricted visibility',
    }),
  )
  .check(
    z.refine((visibility) => !isLongerThan(JSON.stringify(visibility), MOST_BYTES), {
      error: `must be at most ${MOST_BYTES} bytes as JSON`,
    }),
  );
export type Visibility = z.output<typeof Visibility>;

/** The part of a thread that decides who may see it; `maySee` is the rule. */
export interface ThreadAccess {
  readonly visibility?: Visibility | undefined;
  /** The access context, as `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
  /** Who wrote the thread: always within its visibility. */
  readonly authorId: string;
  /** The organization that it lies in, under the customer's id. */
  readonly organizationId: string;
}

/** Whether a thread is private: hidden from some of those who may see its document. */
export function isPrivate(visibility: Visibility | undefined): visibility is Visibility {
  return visibility !== undefined && visibility.type !== 'public';
}

/** The organization whose members see a thread; undefined when membership does not decide. */
export function visibleToMembersOf({ visibility, organizationId }: ThreadAccess): string | undefined {
  return visibility?.type === 'organizationPrivate' ? (visibility.organizationId ?? organizationId) : undefined;
}
