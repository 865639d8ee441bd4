import * as z from 'zod';
import { defineNamedSchema, Id, jsonBytesAtMost, list, optional } from '../../shared/schema.ts';

const visibilityTypes = ['public', 'organizationPrivate', 'restricted'] as const;

const MAX_USERS = 500;
/** Small, because even a reduced event of the thread contains the visibility twice. */
const MAX_BYTES = 32 * 1024;

const visibilityObject = () =>
  z
    .object({
      type: z
        .enum(visibilityTypes)
        .describe(
          '`public`: everybody who may read the document. `organizationPrivate`: members of an organization. `restricted`: the users in `userIds`.',
        ),
      organizationId: optional(Id).describe(
        'For `organizationPrivate`: the organization whose members see the thread. By default that of the thread.',
      ),
      userIds: optional(list(Id, MAX_USERS, 0)).describe(
        'For `restricted`: the users who see the thread besides its author.',
      ),
    })
    .check(
      z.refine(({ type, userIds }) => type !== 'restricted' || userIds !== undefined, {
        path: ['userIds'],
        error: 'is required for restricted visibility',
      }),
    )
    .check(jsonBytesAtMost(MAX_BYTES))
    .describe('Who may see a thread, besides its author. Nobody sees a thread without access to its document.');

/** A thread without a visibility is public. */
export const Visibility = /* @__PURE__ */ defineNamedSchema('Visibility', visibilityObject);
export const VisibilityInput = /* @__PURE__ */ defineNamedSchema('VisibilityInput', visibilityObject);
export type Visibility = z.output<typeof Visibility>;

export interface ThreadAccess {
  readonly visibility?: Visibility | undefined;
  readonly accessFields?: readonly string[] | undefined;
  /** The visibility never excludes the author. */
  readonly authorId: string;
  readonly organizationId: string;
}

export function isPrivate(visibility: Visibility | undefined): visibility is Visibility {
  return visibility !== undefined && visibility.type !== 'public';
}

export function visibleToMembersOf({ visibility, organizationId }: ThreadAccess): string | undefined {
  return visibility?.type === 'organizationPrivate' ? (visibility.organizationId ?? organizationId) : undefined;
}
