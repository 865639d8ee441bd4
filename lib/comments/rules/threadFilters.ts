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
import {
  involvedUserIds,
  mentionedUserIds,
  type RowParts,
  type Thread,
  ThreadChange,
  UserReplacements,
} from './threads.ts';

/** The fields that select the threads of a request. */
export const threadSelectors = /* @__PURE__ */ defineSchema(() => ({
  annotationIds: optional(list(Id, limits.readIds)),
  /** Ids of locations, as in `locationId` of responses. */
  locationIds: optional(list(LocationKey, limits.readIds)),
  /** User ids of participants: users who wrote in a thread, are mentioned in it, or are its assignee. */
  userIds: optional(list(Id, limits.readIds)),
}));

/** Additional fields of a deletion. They select threads by their agent. */
export const agentSelectors = /* @__PURE__ */ defineSchema(() => ({
  agentId: optional(Id),
  agentSuggestions: optional(z.boolean()),
  /** The URLs of pages that the agent read. */
  agentUrls: optional(list(z.string().min(1).max(2_048), limits.readIds)),
}));

type Selector = keyof typeof threadSelectors | keyof typeof agentSelectors;
const selectorNames = [...Object.keys(threadSelectors), ...Object.keys(agentSelectors)] as Selector[];

/**
 * Rejects a deletion whose only selector is `agentSuggestions: false`. Every thread matches this value, so the request would
 * delete all threads.
 */
export const rejectEmptySelector = /* @__PURE__ */ defineSchema(() =>
  z.refine<{ readonly [S in Selector]?: unknown }>(
    (sent) =>
      sent.agentSuggestions !== false || selectorNames.some((name) => sent[name] !== undefined && sent[name] !== false),
    { path: ['agentSuggestions'], error: 'must be true, or another selector must be given' },
  ),
);

/** Requires at least one valid URL in `agentUrls`. */
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
      updatedData: optional(ThreadChange),
      updateUsers: optional(UserReplacements),
      /** With a reason, the decision becomes a judgment. */
      reason: optional(Text.min(1).max(REASON_CHARACTERS)),
      ...changeOptionFields,
    })
    .check(
      // Otherwise a request could change all threads by accident.
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

/** Additional filters of a listing. Times are epoch ms or ISO 8601. */
const listingFilters = /* @__PURE__ */ defineSchema(() => ({
  mentionedUserIds: optional(list(Id, limits.readIds)),
  /** The user who resolved the thread. */
  resolvedBy: optional(Id),
  statusIds: optional(list(Id, limits.readIds)),
  /** One status id. If `statusIds` is given too, a thread must match both fields. */
  statusId: optional(Id),
  createdAfter: optional(Instant),
  createdBefore: optional(Instant),
  updatedAfter: optional(Instant),
  updatedBefore: optional(Instant),
  agentId: optional(Id),
  executionId: optional(Id),
  agentType: optional(Name),
  agentSource: optional(Name),
  agentSuggestions: optional(z.boolean()),
  agentComments: optional(z.boolean()),
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

/** Allows at most one agent filter in a listing. */
const oneAgentFilter = /* @__PURE__ */ defineSchema(() =>
  z.refine<Partial<Record<(typeof agentFilters)[number], unknown>>>(
    (filters) => agentFilters.filter((name) => filters[name] !== undefined).length <= 1,
    { path: ['agentId'], error: `must not be given with another of ${agentFilters.join(', ')}` },
  ),
);

/**
 * Rejects `deletedAfter` together with other filters. Only the id, document and time of a deleted thread are stored, so other
 * filters could not be checked.
 */
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

/** A request for threads of one document, several documents, a folder or the organization. */
export const ThreadListing = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      organizationId: Id,
      documentId: optional(Id),
      documentIds: optional(list(Id, limits.readIds)),
      folderId: optional(Id),
      groupByDocumentId: optional(z.boolean()),
      ...threadSelectors,
      ...listingFilters,
      /** Whether the threads of the response have `metadata`. The default is true. */
      includeMetadata: optional(z.boolean()),
      /** Whether the threads of the response have `pageInfo`. The default is true. */
      includePageInfo: optional(z.boolean()),
      /**
       * If given, the response lists the threads that were deleted at or after this time, in `deletedAnnotations`. Epoch ms or ISO
       * 8601.
       */
      deletedAfter: optional(Instant),
      order: optional(z.enum(['asc', 'desc'])),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    })
    .check(
      oneScope,
      oneAgentFilter,
      rejectFiltersWithDeletedAfter,
      notTogether('pageToken', 'annotationIds'),
      notTogether('order', 'annotationIds'),
    ),
);

/**
 * Returns the filters of a request for threads, and which optional parts the threads of its response have. The name of the
 * service in `agentSource` becomes `svc`.
 */
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
 * Filters of threads. A thread must match every filter that is given. Of a list, it must match at least one value. Times are
 * epoch ms. Filters named `...After` are inclusive, filters named `...Before` are exclusive.
 */
export type ThreadFilters = ListedFilters & { readonly agentUrls?: readonly string[] | undefined };

/** Returns whether a thread matches all given filters. */
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
