import * as z from 'zod';

export interface InvolvedDocuments {
  readonly documentIds: readonly string[];
  /** Older records were not read, so documents can be missing. */
  readonly hasMore: boolean;
}

/** For each user, up to 1,000 records of every kind are read. */
const MAX_USERS = 5;

export function limitInvolvedUsers(...fields: readonly string[]) {
  return z.refine<{ readonly userIds?: readonly string[] | undefined; readonly [field: string]: unknown }>(
    (input) =>
      !fields.some((field) => input[field]) || (input.userIds !== undefined && input.userIds.length <= MAX_USERS),
    { path: ['userIds'], error: `must name 1 to ${MAX_USERS} users together with ${fields.join(' or ')}` },
  );
}

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
    .describe('The number of these documents. Only with `includeInvolvedDocumentsCount` of `/v2/users/get`.'),
  hasMoreInvolvedDocuments: z
    .boolean()
    .optional()
    .describe(
      'Whether older records were not read, so that documents can be missing. The latest 1,000 records of each kind are read.',
    ),
};

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
