import type { UserRule } from '../../app/rules/userRule.ts';
import { distinct, isObject } from '../../shared/collections.ts';
import { invalid } from '../../shared/errors.ts';

/** Customers chose these ids. Without documents and folder, the request names the organization. */
export interface NamedResources {
  readonly organizationId: string;
  readonly documentIds: readonly string[];
  readonly folderId: string | undefined;
}

/** Throws INVALID_ARGUMENT if the rule needs a field that is missing. */
export function namedResources({ on }: Pick<UserRule, 'on'>, input: unknown): NamedResources {
  const fields = isObject(input) ? input : {};
  const organizationId = requireText(fields.organizationId, 'organizationId');
  if (on === 'organization') return { organizationId, documentIds: [], folderId: undefined };
  if (on === 'document')
    return { organizationId, documentIds: [requireText(fields.documentId, 'documentId')], folderId: undefined };
  const documentIds = [
    fields.documentId,
    ...(Array.isArray(fields.documentIds) ? (fields.documentIds as unknown[]) : []),
  ];
  const named = distinct(documentIds.filter((id) => typeof id === 'string'));
  if (on === 'documents') {
    if (named.length === 0) requireText(undefined, 'documentIds');
    return { organizationId, documentIds: named, folderId: undefined };
  }
  return {
    organizationId,
    documentIds: named,
    folderId: typeof fields.folderId === 'string' ? fields.folderId : undefined,
  };
}

function requireText(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw invalid({ path: [field], code: 'invalid_type', message: `${field} is required with a user token` });
}
