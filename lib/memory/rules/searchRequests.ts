import * as z from 'zod';
import { isObject } from '../../shared/collections.ts';
import { Id, optional, Text } from '../../shared/schema.ts';
import { DateRange, judgmentFilters } from './filters.ts';

/** The scopes of a search: one document, an organization with its documents, or all judgments of the API key. */
const scopeNames = ['document', 'organization', 'apiKey'] as const;
export type ScopeName = (typeof scopeNames)[number];

interface ScopedRequest {
  readonly scope?: ScopeName | undefined;
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly annotationId?: string | undefined;
}

const ids = { organizationId: optional(Id), documentId: optional(Id) };

/** Returns the scope of a request. By default, the ids in the request select the smallest scope. */
export function scopeNameOf({ scope, organizationId, documentId }: ScopedRequest): ScopeName {
  if (scope) return scope;
  if (organizationId === undefined) return 'apiKey';
  return documentId === undefined ? 'organization' : 'document';
}

/**
 * Returns the ids that the scope of a request uses. The scope `organization` ignores `documentId`, and `apiKey` ignores
 * both ids.
 */
export function idsOf(request: ScopedRequest): Pick<ScopedRequest, 'organizationId' | 'documentId'> {
  const name = scopeNameOf(request);
  const { organizationId, documentId } = request;
  return name === 'apiKey' ? {} : { organizationId, documentId: name === 'document' ? documentId : undefined };
}

type Refuse = (path: string[], message: string) => void;

/** Calls `refuse` if the scope of a request needs an id that is missing. A filter by thread always needs the organization. */
export function checkScope({ scope, organizationId, documentId, annotationId }: ScopedRequest, refuse: Refuse): void {
  const requireOrganization = (reason: string) => refuse(['organizationId'], `is required ${reason}`);
  if (organizationId === undefined) {
    if (documentId !== undefined) requireOrganization('for documentId');
    else if (annotationId !== undefined) requireOrganization('for annotationId');
    else if (scope === 'organization' || scope === 'document') requireOrganization(`for scope ${scope}`);
  } else if (scope === 'document' && documentId === undefined && annotationId === undefined)
    refuse(['documentId'], 'is required for scope document');
}

/**
 * Returns a function that Zod calls for each request. The function calls `check`, and adds an issue to the request for
 * each call of `refuse`.
 */
function checkWith<T>(check: (value: T, refuse: Refuse) => void) {
  return ({ value, issues }: z.core.ParsePayload<T>) =>
    check(value, (path, message) => issues.push({ code: 'custom', input: value, path, message }));
}

/** The request of `/v2/memory/judgments/query`. */
export const QueryRequest = z
  .object({
    ...ids,
    ...judgmentFilters,
    annotationId: optional(Id),
    limit: optional(z.int().min(1).max(100)),
  })
  .check(checkWith(checkScope));

const fullNames = { orgId: 'organizationId', docId: 'documentId' } as const;
const shortIds = { orgId: optional(Id), docId: optional(Id) };

function withFullNames(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.entries(fullNames).filter(
    ([short, full]) => typeof sent[short] === 'string' && sent[full] == null,
  );
  return { ...sent, ...Object.fromEntries(named.map(([short, full]) => [full, sent[short]])) };
}

/**
 * The request of `/v2/memory/search`. Fields that have no effect are not validated: `query` and `recencyDays` if the
 * request names a thread, and otherwise `query` and the date range if it has `recencyDays`.
 */
export const SearchRequest = z.preprocess(
  (sent) => {
    if (!isObject(sent)) return sent;
    const data = withFullNames(sent);
    const { filters } = data;
    if (isObject(filters) && typeof filters.annotationId === 'string')
      return { ...data, query: undefined, recencyDays: undefined };
    if (typeof data.recencyDays !== 'number') return data;
    return { ...data, query: undefined, filters: isObject(filters) ? { ...filters, dateRange: undefined } : filters };
  },
  z
    .object({
      query: optional(Text),
      embeddingType: optional(z.enum(['review', 'content'])),
      scope: optional(z.enum(scopeNames)),
      ...ids,
      ...shortIds,
      limit: optional(z.int().min(1).max(50)),
      filters: optional(z.object({ ...judgmentFilters, annotationId: optional(Id), dateRange: optional(DateRange) })),
      recencyDays: optional(z.int().min(1).max(365)),
    })
    .check(
      checkWith((value, refuse) => {
        const { query, filters: { annotationId } = {}, recencyDays } = value;
        for (const [short, full] of Object.entries(fullNames) as ['orgId', 'organizationId'][])
          if (value[short] !== undefined && value[short] !== value[full]) refuse([short], `must equal ${full}`);
        checkScope({ ...value, annotationId }, refuse);
        if (annotationId !== undefined || recencyDays !== undefined) return;
        if (query === undefined) refuse(['query'], 'is required');
        else if (query.trim() === '') refuse(['query'], 'must not be empty');
      }),
    ),
);
export type SearchRequest = z.output<typeof SearchRequest>;
