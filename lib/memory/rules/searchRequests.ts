import * as z from 'zod';
import { isObject } from '../../shared/collections.ts';
import { Id, list, optional, Text } from '../../shared/schema.ts';
import { DateRange, judgmentFilters } from './filters.ts';

const scopeNames = ['document', 'organization', 'apiKey'] as const;
export type ScopeName = (typeof scopeNames)[number];

export interface ScopeIds {
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly documentIds?: readonly string[] | undefined;
}

interface ScopedRequest extends ScopeIds {
  readonly scope?: ScopeName | undefined;
  readonly annotationId?: string | undefined;
}

const MAX_DOCUMENTS = 25;
const MAX_EXCLUDED = 20;

const ids = {
  organizationId: optional(Id).describe('Only judgments of this organization and its documents.'),
  documentId: optional(Id).describe('Only judgments of this document. Needs `organizationId`.'),
  documentIds: optional(list(Id, MAX_DOCUMENTS)).describe(
    'Only judgments of these documents, whatever the scope. Needs `organizationId`. With `documentId`, that document alone counts. More documents take longer, because each can be searched or listed by itself.',
  ),
};

export function scopeNameOf({ scope, organizationId, documentId, documentIds }: ScopedRequest): ScopeName {
  if (scope) return scope;
  if (organizationId === undefined) return 'apiKey';
  return documentId === undefined && documentIds === undefined ? 'organization' : 'document';
}

/** A scope that is wider than `documentIds` does not widen the search. */
export function idsOf(request: ScopedRequest): ScopeIds {
  const name = scopeNameOf(request);
  const { organizationId, documentId, documentIds } = request;
  if (name === 'document' && documentId !== undefined) return { organizationId, documentId };
  if (documentIds !== undefined) return { organizationId, documentIds };
  return name === 'apiKey' ? {} : { organizationId };
}

type Refuse = (path: string[], message: string) => void;

export function checkScope(
  { scope, organizationId, documentId, documentIds, annotationId }: ScopedRequest,
  refuse: Refuse,
): void {
  const requireOrganization = (reason: string) => refuse(['organizationId'], `is required ${reason}`);
  if (organizationId === undefined) {
    if (documentId !== undefined) requireOrganization('for documentId');
    else if (documentIds !== undefined) requireOrganization('for documentIds');
    else if (annotationId !== undefined) requireOrganization('for annotationId');
    else if (scope === 'organization' || scope === 'document') requireOrganization(`for scope ${scope}`);
  } else if (scope === 'document' && [documentId, documentIds, annotationId].every((value) => value === undefined))
    refuse(['documentId'], 'is required for scope document');
}

function checkWith<T>(check: (value: T, refuse: Refuse) => void) {
  return ({ value, issues }: z.core.ParsePayload<T>) =>
    check(value, (path, message) => issues.push({ code: 'custom', input: value, path, message }));
}

export const QueryRequest = z
  .object({
    ...ids,
    ...judgmentFilters,
    annotationId: optional(Id).describe('Only judgments of this comment thread. Needs `organizationId`.'),
    limit: optional(z.int().min(1).max(100)).describe(
      'The largest number of judgments in the answer. The default is 20.',
    ),
  })
  .check(checkWith(checkScope));

const fullNames = { orgId: 'organizationId', docId: 'documentId' } as const;
const shortIds = {
  orgId: optional(Id).describe('Another name of `organizationId`. If both are sent, they must be equal.'),
  docId: optional(Id).describe('Another name of `documentId`. If both are sent, they must be equal.'),
};

function withFullNames(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.entries(fullNames).filter(
    ([short, full]) => typeof sent[short] === 'string' && sent[full] == null,
  );
  return { ...sent, ...Object.fromEntries(named.map(([short, full]) => [full, sent[short]])) };
}

/** Fills in the full names of ids. Removes fields that have no effect beside others, so they are not validated. */
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
      query: optional(Text).describe(
        'What to search for, in any words. Required unless the request has `recencyDays` or `filters.annotationId`, which ignore it.',
      ),
      embeddingType: optional(z.enum(['review', 'content'])).describe(
        'Whether the query is compared with decision and reasoning (`review`, the default) or with the reviewed content.',
      ),
      scope: optional(z.enum(scopeNames)).describe(
        'Which ids apply: `apiKey` ignores `organizationId` and `documentId`, `organization` ignores `documentId`. By default all that are sent.',
      ),
      ...ids,
      ...shortIds,
      limit: optional(z.int().min(1).max(50)).describe(
        'The largest number of judgments in the answer. The default is 10.',
      ),
      filters: optional(
        z.object({
          ...judgmentFilters,
          annotationId: optional(Id).describe(
            'Returns the judgments of this comment thread, oldest first. Needs `organizationId`.',
          ),
          excludeDocumentIds: optional(list(Id, MAX_EXCLUDED)).describe(
            'No judgments of documents with these ids, in any organization. Judgments without a document stay. Unknown ids are accepted.',
          ),
          dateRange: optional(DateRange).describe(
            'Only judgments of this time. Ignored with `recencyDays`. Each end is optional.',
          ),
        }),
      ).describe('A judgment must match all filters.'),
      recencyDays: optional(z.int().min(1).max(365)).describe(
        'Returns the latest judgments of this many times 24 hours, without a search. Ignored with `filters.annotationId`.',
      ),
    })
    .check(
      checkWith((value, refuse) => {
        const { query, filters: { annotationId } = {}, recencyDays } = value;
        for (const [short, full] of Object.entries(fullNames) as ['orgId', 'organizationId'][])
          if (value[short] !== undefined && value[short] !== value[full]) refuse([short], `must equal ${full}`);
        checkScope({ ...value, annotationId }, refuse);
        if (annotationId !== undefined || recencyDays !== undefined) return;
        if (query === undefined) refuse(['query'], 'is required without recencyDays and filters.annotationId');
        else if (query.trim() === '') refuse(['query'], 'must not be empty');
      }),
    ),
);
export type SearchRequest = z.output<typeof SearchRequest>;
