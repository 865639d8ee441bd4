import * as z from 'zod';
import { isLongerThan } from '../../shared/bytes.ts';
import { Id, list, optional } from '../../shared/schema.ts';

export const visibilityTypes = ['public', 'organizationPrivate', 'restricted'] as const;

/** The users of a restricted thread. */
const MOST_USERS = 500;
/** The size of a visibility as JSON. Every event of the thread contains it twice. */
const MOST_BYTES = 32 * 1024;

/** The visibility of a thread. A thread without one is public. */
export const Visibility = z
  .object({
    type: z.enum(visibilityTypes),
    /** For `organizationPrivate`: the organization whose members see the thread; default: the organization of the thread. */
    organizationId: optional(Id),
    /** For `restricted`: the users who see the thread besides the author. */
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

/** The part of a thread that decides who may see it, by the rule `canSee`. */
export interface ThreadAccess {
  readonly visibility?: Visibility | undefined;
  /** The access context, as `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
  /** The author of the thread: the visibility never excludes the author. */
  readonly authorId: string;
  /** The customer's id of the organization. */
  readonly organizationId: string;
}

/** Whether a thread is hidden from some users who may see its document. */
export function isPrivate(visibility: Visibility | undefined): visibility is Visibility {
  return visibility !== undefined && visibility.type !== 'public';
}

/** Returns the organization whose members see a thread; undefined when membership does not decide. */
export function visibleToMembersOf({ visibility, organizationId }: ThreadAccess): string | undefined {
  return visibility?.type === 'organizationPrivate' ? (visibility.organizationId ?? organizationId) : undefined;
}
