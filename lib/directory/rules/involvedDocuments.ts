import * as z from 'zod';

/** The documents of an organization that a user is involved in. */
export interface InvolvedDocuments {
  /** The document ids that the customer chose. The document with the user's latest record is first. */
  readonly documentIds: readonly string[];
  /** True if older records were not read, so that documents can be missing. */
  readonly hasMore: boolean;
}

/**
 * The largest number of users in one request. For each user, up to 1,000 records of every kind (such as comments) that involve
 * the user are read.
 */
const MAX_USERS = 5;

/** Requires 1 to 5 user ids in a request that asks for involved documents or their count. */
export const limitInvolvedUsers = z.refine<{
  includeInvolvedDocuments?: boolean | undefined;
  includeInvolvedDocumentsCount?: boolean | undefined;
  userIds?: readonly string[] | undefined;
}>(
  ({ includeInvolvedDocuments, includeInvolvedDocumentsCount, userIds }) =>
    !(includeInvolvedDocuments || includeInvolvedDocumentsCount) ||
    (userIds !== undefined && userIds.length <= MAX_USERS),
  {
    path: ['userIds'],
    error: `must name 1 to ${MAX_USERS} users together with includeInvolvedDocuments or includeInvolvedDocumentsCount`,
  },
);

/** The fields for involved documents in the response of a user. */
export const InvolvedFields = {
  involvedDocuments: z
    .array(z.string())
    .optional()
    .describe(
      'The documents where the user wrote, is mentioned, reacted, recorded or is notified, by id, latest first. Only with `includeInvolvedDocuments`.',
    ),
  involvedDocumentsCount: z
    .int()
    .optional()
    .describe('The number of these documents. Only with `includeInvolvedDocumentsCount`.'),
  hasMoreInvolvedDocuments: z
    .boolean()
    .optional()
    .describe(
      'Whether older records were not read, so that documents can be missing. The latest 1,000 records of each kind are read.',
    ),
};

/**
 * Returns the fields for involved documents in the response of a user. `withIds` and `withCount` say what the request asked for.
 */
export function toInvolvedFields(
  { documentIds, hasMore }: InvolvedDocuments = { documentIds: [], hasMore: false },
  {
    withIds = false,
    withCount = false,
  }: { readonly withIds?: boolean | undefined; readonly withCount?: boolean | undefined },
) {
  return {
    ...(withIds && { involvedDocuments: [...documentIds] }),
    ...(withCount && { involvedDocumentsCount: documentIds.length }),
    hasMoreInvolvedDocuments: hasMore,
  };
}
