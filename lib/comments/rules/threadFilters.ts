import * as z from 'zod';
import { parseHttpUrl } from '../../net/httpUrl.ts';
import { Id, limits, list, Name, optional, PageSize, PageToken, withFieldRule } from '../../shared/schema.ts';
import { LocationKey } from '../../content/rules/location.ts';
import type { Status } from './statuses.ts';
import { involvedUserIds, mentionedUserIds, type RowParts, type Thread } from './threads.ts';
import { Instant } from '../../shared/times.ts';

/** The threads that a call names, or describes by where they are and who takes part. */
export const threadSelectors = {
  annotationIds: optional(list(Id, limits.readIds)),
  /** As `locationId` shows them. */
  locationIds: optional(list(LocationKey, limits.readIds)),
  /** Users who take part. */
  userIds: optional(list(Id, limits.readIds)),
};

/** What agents' threads are selected by, for their deletion. */
export const agentSelectors = {
  agentId: optional(Id),
  agentSuggestions: optional(z.boolean()),
  /** The pages that the agent looked at. */
  agentUrls: optional(list(z.string().min(1).max(2_048), limits.readIds)),
};

type Selector = keyof typeof threadSelectors | keyof typeof agentSelectors;
const selectorNames = [...Object.keys(threadSelectors), ...Object.keys(agentSelectors)] as Selector[];

/** A call that changes threads says which: nobody deletes all of a document's by accident. */
export const requireSelector = withFieldRule(
  'anyOf',
  selectorNames,
  z.refine<{ readonly [S in Selector]?: unknown }>(
    (sent) => selectorNames.some((name) => sent[name] !== undefined && sent[name] !== false),
    { path: ['annotationIds'], error: 'must be given, or another of what selects annotations' },
  ),
);

/** A deletion without a selector is about the whole document. A selector that selects nothing is refused: it must not widen the deletion. */
export const rejectEmptySelector = z.refine<{ readonly [S in Selector]?: unknown }>(
  (sent) =>
    sent.agentSuggestions !== false || selectorNames.some((name) => sent[name] !== undefined && sent[name] !== false),
  { path: ['agentSuggestions'], error: 'must be true, or another selector must be given' },
);

/** Pages are selected by their URL: some have to be one. */
export const requireAgentUrl = z.refine<{ readonly agentUrls?: readonly string[] | undefined }>(
  ({ agentUrls }) => agentUrls === undefined || agentUrls.some((url) => parseHttpUrl(url) !== undefined),
  { path: ['agentUrls'], error: 'must have an http or https URL' },
);

/** What else a listing can ask for. Times are epoch ms or ISO 8601. */
export const listingFilters = {
  mentionedUserIds: optional(list(Id, limits.readIds)),
  /** Who resolved it. */
  resolvedBy: optional(Id),
  statusIds: optional(list(Id, limits.readIds)),
  /** One status; together with statusIds both have to hold. */
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
};

const agentFilters = [
  'agentId',
  'executionId',
  'agentType',
  'agentSource',
  'agentSuggestions',
  'agentComments',
] as const;

/** A listing asks for agents in one way at most (facts C8). */
export const oneAgentFilter = z.refine<Partial<Record<(typeof agentFilters)[number], unknown>>>(
  (filters) => agentFilters.filter((name) => filters[name] !== undefined).length <= 1,
  { path: ['agentId'], error: `must not be given with another of ${agentFilters.join(', ')}` },
);

/** Nothing but its id, document and time is known of a deleted thread. */
const deletedAlone = z.refine<{ readonly deletedAfter?: unknown } & { readonly [field: string]: unknown }>(
  ({ deletedAfter, ...others }) =>
    deletedAfter === undefined ||
    ['order', 'groupByDocumentId', ...Object.keys(threadSelectors), ...Object.keys(listingFilters)].every(
      (field) => others[field] === undefined,
    ),
  { path: ['deletedAfter'], error: 'must not be given together with filters, groupByDocumentId or order' },
);

const oneScope = z.refine<{
  documentId?: string | undefined;
  documentIds?: string[] | undefined;
  folderId?: string | undefined;
}>(
  ({ documentId, documentIds, folderId }) =>
    [documentId, documentIds, folderId].filter((scope) => scope !== undefined).length <= 1,
  { path: ['documentId'], error: 'must not be given together with documentIds or folderId, nor these two together' },
);

/** A request for threads: of one document, of some, of a folder or of the organization. */
export const ThreadListing = z
  .object({
    organizationId: Id,
    documentId: optional(Id),
    documentIds: optional(list(Id, limits.readIds)),
    folderId: optional(Id),
    groupByDocumentId: optional(z.boolean()),
    ...threadSelectors,
    ...listingFilters,
    /** Whether rows carry `metadata`; true when left out. */
    includeMetadata: optional(z.boolean()),
    /** Whether rows carry `pageInfo`; true when left out. */
    includePageInfo: optional(z.boolean()),
    /** Lists the threads that were deleted from this time on instead: `deletedAnnotations`. Epoch ms or ISO 8601. */
    deletedAfter: optional(Instant),
    order: optional(z.enum(['asc', 'desc'])),
    pageSize: optional(PageSize),
    pageToken: optional(PageToken),
  })
  .check(oneScope, oneAgentFilter, deletedAlone);

/** Returns the filters of a request for threads and the optional parts of its rows. The service's own name as `agentSource` means `svc`. */
export function toListingOptions(
  request: z.output<typeof ThreadListing>,
  serviceName: string,
): { filters: ThreadFilters; parts: RowParts } {
  const { includeMetadata = true, includePageInfo = true, ...others } = request;
  const {
    documentIds: _documents,
    annotationIds: _annotations,
    groupByDocumentId: _grouped,
    deletedAfter: _deleted,
    order: _order,
    pageSize: _size,
    pageToken: _token,
    ...sent
  } = others;
  const filters = { ...sent, agentSource: sent.agentSource === serviceName ? 'svc' : sent.agentSource };
  return { filters, parts: { metadata: includeMetadata, pageInfo: includePageInfo } };
}

/** Which threads a call is about: those that meet all that is given; of a list one has to fit. Times are epoch ms, from `after` on and before `before`. */
export type ThreadFilters = z.output<z.ZodObject<typeof threadSelectors & typeof listingFilters>> & {
  readonly agentUrls?: readonly string[] | undefined;
};

function statusIdOf({ status }: Thread): string {
  return (JSON.parse(status) as Status).id;
}

/** Whether a thread meets all filters that are given. */
export function matchesFilters(thread: Thread, filters: ThreadFilters): boolean {
  const { agent } = thread;
  const among = (wanted: readonly string[] | undefined, ...values: (string | undefined)[]) =>
    wanted === undefined || values.some((value) => value !== undefined && wanted.includes(value));
  const within = (at: number, after = 0, before = Infinity) => after <= at && at < before;
  const is = (wanted: string | undefined, value: string | undefined) => wanted === undefined || wanted === value;
  const isOfAgent = (asked: boolean | undefined, type: Thread['type']) =>
    asked !== true || (agent !== undefined && thread.type === type);
  return (
    among(filters.annotationIds, thread.annotationId) &&
    among(filters.locationIds, thread.locationKey) &&
    (filters.userIds === undefined || among(filters.userIds, ...involvedUserIds(thread))) &&
    (filters.mentionedUserIds === undefined || among(filters.mentionedUserIds, ...mentionedUserIds(thread))) &&
    is(filters.resolvedBy, thread.resolvedByUserId) &&
    (filters.statusIds === undefined || among(filters.statusIds, statusIdOf(thread))) &&
    (filters.statusId === undefined || filters.statusId === statusIdOf(thread)) &&
    within(thread.createdAt, filters.createdAfter, filters.createdBefore) &&
    within(thread.lastUpdated, filters.updatedAfter, filters.updatedBefore) &&
    is(filters.agentId, agent?.agentId) &&
    is(filters.executionId, agent?.executionId) &&
    is(filters.agentType, agent?.agentType) &&
    is(filters.agentSource, agent?.agentSource) &&
    among(filters.agentUrls, agent?.url) &&
    isOfAgent(filters.agentSuggestions, 'suggestion') &&
    isOfAgent(filters.agentComments, 'comment')
  );
}
