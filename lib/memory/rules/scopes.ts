import * as z from 'zod';
import { Id, optional } from '../../shared/schema.ts';

/** How far a search looks: in a document, in an organization with all its documents, or in all that the API key has. */
export const scopeNames = ['document', 'organization', 'apiKey'] as const;
export type ScopeName = (typeof scopeNames)[number];

/** How requests say where to look. */
export const scoped = { scope: optional(z.enum(scopeNames)), organizationId: optional(Id), documentId: optional(Id) };

interface Scoped {
  readonly scope?: ScopeName | undefined;
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly annotationId?: string | undefined;
}

/** The scope of a request: without one it is as narrow as the ids that are given. */
export function scopeNameOf({ scope, organizationId, documentId }: Scoped): ScopeName {
  return scope ?? (organizationId === undefined ? 'apiKey' : documentId === undefined ? 'organization' : 'document');
}

/** The ids that a scope looks at; a wider one than the ids are does not look at all of them. */
export function idsOf(request: Scoped): { organizationId?: string | undefined; documentId?: string | undefined } {
  const name = scopeNameOf(request);
  const { organizationId, documentId } = request;
  return name === 'apiKey' ? {} : { organizationId, documentId: name === 'document' ? documentId : undefined };
}

/** Refuses a scope whose ids are missing. A thread is found by the organization alone, whatever the scope. */
export function checkScope(
  { scope, organizationId, documentId, annotationId }: Scoped,
  refuse: (path: string[], message: string) => void,
): void {
  const required = (why: string) => refuse(['organizationId'], `is required ${why}`);
  if (organizationId === undefined) {
    if (documentId !== undefined) required('for documentId');
    else if (annotationId !== undefined) required('for annotationId');
    else if (scope === 'organization' || scope === 'document') required(`for scope ${scope}`);
  } else if (scope === 'document' && documentId === undefined && annotationId === undefined)
    refuse(['documentId'], 'is required for scope document');
}
