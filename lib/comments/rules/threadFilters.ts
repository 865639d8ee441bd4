import * as z from 'zod';
import { LocationKey } from '../../content/rules/location.ts';
import { parseHttpUrl } from '../../net/httpUrl.ts';
import { pickFields } from '../../shared/jsonFields.ts';
import {
  defineSchema,
  Id,
  limits,
  list,
  Name,
  notTogether,
  optional,
  PageSize,
  PageToken,
  requireAnyOf,
  Text,
} from '../../shared/schema.ts';
import { Instant } from '../../shared/times.ts';
import { changeOptionFields } from './changeOptions.ts';
import type { Status } from './statuses.ts';
import { ThreadChange, UserReplacements } from './threadRequests.ts';
import type { RowParts } from './threadResponses.ts';
import { involvedUserIds, mentionedUserIds, type Thread } from './threads.ts';

export const threadSelectors = /* @__PURE__ */ defineSchema(() => ({
  annotationIds: optional(list(Id, limits.readIds)).describe('The threads with these ids.'),
  locationIds: optional(list(LocationKey, limits.readIds)).describe(
    'The threads at these locations, by the `locationId` of answers.',
  ),
  userIds: optional(list(Id, limits.readIds)).describe(
    'The threads in which one of these users wrote, is mentioned, or is the assignee.',
  ),
}));

export const agentSelectors = /* @__PURE__ */ defineSchema(() => ({
  agentId: optional(Id).describe('The threads whose first comment is by this agent.'),
  agentSuggestions: optional(z.boolean()).describe(
    'If true, the suggestions of agents. By default threads are not selected by this.',
  ),
  agentUrls: optional(list(z.string().min(1).max(2_048), limits.readIds)).describe(
    'The threads whose agent read one of these pages, by `agent.url`.',
  ),
}));

type Selector = keyof typeof threadSelectors | keyof typeof agentSelectors;
const selectorNames = [...Object.keys(threadSelectors), ...Object.keys(agentSelectors)] as Selector[];

/** Every thread matches `agentSuggestions: false`, so this selector alone would delete all threads. */
export const rejectEmptySelector = /* @__PURE__ */ defineSchema(() =>
  z.refine<{ readonly [S in Selector]?: unknown }>(
    (sent) =>
      sent.agentSuggestions !== false || selectorNames.some((name) => sent[name] !== undefined && sent[name] !== false),
    { path: ['agentSuggestions'], error: 'must be true, or another selector must be given' },
  ),
);

export const requireAgentUrl = /* @__PURE__ */ defineSchema(() =>
  z.refine<{ readonly agentUrls?: readonly string[] | undefined }>(
    ({ agentUrls }) => agentUrls === undefined || agentUrls.some((url) => parseHttpUrl(url) !== undefined),
    { path: ['agentUrls'], error: 'must have an http or https URL' },
  ),
);

const REASON_CHARACTERS = 4_000;

export const ThreadsUpdateRequest = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      organizationId: Id,
      documentId: Id,
      ...threadSelectors,
      updatedData: optional(ThreadChange).describe('The new values of fields. Required without `updateUsers`.'),
      updateUsers: optional(UserReplacements).describe(
        'Users who take the place of others in the threads and in their comments. Refused with a user token.',
      ),
      reason: optional(Text.min(1).max(REASON_CHARACTERS)).describe(
        'Why the thread is decided in this way. A decision with a reason becomes a judgment, from which review agents learn.',
      ),
      ...changeOptionFields,
    })
    .check(
      // A request without a selector would change all threads.
      requireAnyOf(['annotationIds', 'locationIds', 'userIds'], {
        path: ['annotationIds'],
        error: 'must be given, or another field that selects annotations',
      }),
      requireAnyOf(['updatedData', 'updateUsers'], { path: ['updatedData'], error: 'must be given, or updateUsers' }),
      z.refine(({ reason, actionUser }) => reason === undefined || actionUser !== undefined, {
        path: ['actionUser'],
        error: 'is required with reason',
      }),
      z.refine(({ reason }) => reason === undefined || reason.trim() !== '', {
        path: ['reason'],
        error: 'must not be blank',
      }),
    ),
);

const listingFilters = /* @__PURE__ */ defineSchema(() => ({
  mentionedUserIds: optional(list(Id, limits.readIds)).describe('Only threads that mention one of these users.'),
  resolvedBy: optional(Id).describe('Only threads that this user resolved.'),
  statusIds: optional(list(Id, limits.readIds)).describe('Only threads with one of these statuses, by the id.'),
  statusId: optional(Id).describe(
    'Only threads with this status. If `statusIds` is sent too, a thread must match both.',
  ),
  createdAfter: optional(Instant).describe(
    'Only threads that were created at or after this time, in epoch milliseconds or ISO 8601.',
  ),
  createdBefore: optional(Instant).describe(
    'Only threads that were created before this time, in epoch milliseconds or ISO 8601.',
  ),
  updatedAfter: optional(Instant).describe(
    'Only threads that changed at or after this time, in epoch milliseconds or ISO 8601.',
  ),
  updatedBefore: optional(Instant).describe(
    'Only threads whose last change is before this time, in epoch milliseconds or ISO 8601.',
  ),
  agentId: optional(Id).describe('Only threads that this agent started. At most one filter by agent can be sent.'),
  executionId: optional(Id).describe('Only threads that this run of an agent started.'),
  agentType: optional(Name).describe('Only threads that an agent of this kind started.'),
  agentSource: optional(Name).describe(
    'Only threads that agents from `external`, or from `svc` or the name of the service, started.',
  ),
  agentSuggestions: optional(z.boolean()).describe('If true, only suggestions that agents started.'),
  agentComments: optional(z.boolean()).describe(
    'If true, only threads that agents started and that are no suggestions.',
  ),
}));

type ListedFilters = z.output<z.ZodObject<typeof threadSelectors & typeof listingFilters>>;

function filterNames() {
  return [...Object.keys(threadSelectors), ...Object.keys(listingFilters)] as (keyof ListedFilters)[];
}

const agentFilters = [
  'agentId',
  'executionId',
  'agentType',
  'agentSource',
  'agentSuggestions',
  'agentComments',
] as const;

const oneAgentFilter = /* @__PURE__ */ defineSchema(() =>
  z.refine<Partial<Record<(typeof agentFilters)[number], unknown>>>(
    (filters) => agentFilters.filter((name) => filters[name] !== undefined).length <= 1,
    { path: ['agentId'], error: `must not be given with another of ${agentFilters.join(', ')}` },
  ),
);

/** Of a deleted thread, too few fields are stored to check other filters. */
const rejectFiltersWithDeletedAfter = /* @__PURE__ */ defineSchema(() =>
  z.refine<{ readonly deletedAfter?: unknown } & { readonly [field: string]: unknown }>(
    ({ deletedAfter, ...others }) =>
      deletedAfter === undefined ||
      ['order', 'groupByDocumentId', ...filterNames()].every((field) => others[field] === undefined),
    { path: ['deletedAfter'], error: 'must not be given together with filters, groupByDocumentId or order' },
  ),
);

const oneScope = /* @__PURE__ */ defineSchema(() =>
  z.refine<{
    documentId?: string | undefined;
    documentIds?: string[] | undefined;
    folderId?: string | undefined;
  }>(
    ({ documentId, documentIds, folderId }) =>
      [documentId, documentIds, folderId].filter((scope) => scope !== undefined).length <= 1,
    { path: ['documentId'], error: 'must not be given together with documentIds or folderId, nor these two together' },
  ),
);

export const ThreadListing = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      organizationId: Id,
      documentId: optional(Id).describe(
        'The document whose threads are listed. Without it, `documentIds` and `folderId`, those of the whole organization.',
      ),
      documentIds: optional(list(Id, limits.readIds)).describe('The documents whose threads are listed.'),
      folderId: optional(Id).describe('The folder whose documents are listed, also those in folders below it.'),
      groupByDocumentId: optional(z.boolean()).describe(
        'If true, `data` is an object of lists of threads by document. By default it is one list.',
      ),
      ...threadSelectors,
      ...listingFilters,
      includeMetadata: optional(z.boolean()).describe(
        'Whether the threads of the answer have `metadata`. By default true.',
      ),
      includePageInfo: optional(z.boolean()).describe(
        'Whether the threads of the answer have `pageInfo`. By default true.',
      ),
      deletedAfter: optional(Instant).describe(
        'Lists the threads that were deleted at or after this time in `deletedAnnotations`, in epoch milliseconds or ISO 8601. Deletions are kept for 30 days.',
      ),
      userId: optional(Id).describe(
        'The user whose read state the threads of the answer have: `unread` and `firstUnreadCommentId`. With a user token, the user of the token.',
      ),
      order: optional(z.enum(['asc', 'desc'])).describe(
        'The order of the creation times within each document. By default `desc`, the latest first.',
      ),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    })
    .check(
      oneScope,
      oneAgentFilter,
      rejectFiltersWithDeletedAfter,
      notTogether('userId', 'deletedAfter'),
      notTogether('pageToken', 'annotationIds'),
      notTogether('order', 'annotationIds'),
    ),
);

/** The name of the service in `agentSource` becomes `svc`. */
export function toListingOptions(
  request: z.output<typeof ThreadListing>,
  serviceName: string,
): { filters: ThreadFilters; parts: RowParts } {
  const { agentSource, includeMetadata = true, includePageInfo = true } = request;
  const filters = {
    ...pickFields(request, filterNames()),
    agentSource: agentSource === serviceName ? 'svc' : agentSource,
  };
  return { filters, parts: { metadata: includeMetadata, pageInfo: includePageInfo } };
}

/**
 * A thread must match every given filter, and at least one value of a list. Times are epoch ms. `...After` is
 * inclusive, `...Before` exclusive.
 */
export type ThreadFilters = ListedFilters & { readonly agentUrls?: readonly string[] | undefined };

export function matchesFilters(thread: Thread, filters: ThreadFilters): boolean {
  const { agent } = thread;
  const statusId = () => (JSON.parse(thread.status) as Status).id;
  const isOneOf = (filter: readonly string[] | undefined, values: () => readonly (string | undefined)[]) =>
    filter === undefined || values().some((value) => value !== undefined && filter.includes(value));
  const isBetween = (at: number, after = 0, before = Infinity) => after <= at && at < before;
  const equals = (filter: string | undefined, value: string | undefined) => filter === undefined || filter === value;
  const isOfAgent = (filter: boolean | undefined, type: Thread['type']) =>
    filter !== true || (agent !== undefined && thread.type === type);
  return (
    isOneOf(filters.annotationIds, () => [thread.annotationId]) &&
    isOneOf(filters.locationIds, () => [thread.locationKey]) &&
    isOneOf(filters.userIds, () => involvedUserIds(thread)) &&
    isOneOf(filters.mentionedUserIds, () => mentionedUserIds(thread)) &&
    isOneOf(filters.statusIds, () => [statusId()]) &&
    isOneOf(filters.statusId === undefined ? undefined : [filters.statusId], () => [statusId()]) &&
    isOneOf(filters.agentUrls, () => [agent?.url]) &&
    equals(filters.resolvedBy, thread.resolvedByUserId) &&
    isBetween(thread.createdAt, filters.createdAfter, filters.createdBefore) &&
    isBetween(thread.lastUpdated, filters.updatedAfter, filters.updatedBefore) &&
    equals(filters.agentId, agent?.agentId) &&
    equals(filters.executionId, agent?.executionId) &&
    equals(filters.agentType, agent?.agentType) &&
    equals(filters.agentSource, agent?.agentSource) &&
    isOfAgent(filters.agentSuggestions, 'suggestion') &&
    isOfAgent(filters.agentComments, 'comment')
  );
}
