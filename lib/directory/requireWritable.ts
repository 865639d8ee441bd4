import { ApiError } from '../shared/errors.ts';
import { DISABLED, type Document, isMigrating, MIGRATES, refuseMigrating } from './documents.ts';
import type { Organization } from './organizations.ts';

type WritableDocument = Pick<Document, 'documentId' | 'disabled'> & Partial<Pick<Document, 'arriving' | 'leaving'>>;

/**
 * Throws FAILED_PRECONDITION if the organization or the document is disabled, or if the document is being migrated: they
 * can only be read.
 */
export function requireWritable({
  organization,
  document,
}: {
  readonly organization?: Pick<Organization, 'disabled'> | undefined;
  readonly document?: WritableDocument | undefined;
}): void {
  if (organization?.disabled) throw new ApiError('FAILED_PRECONDITION', 'The organization is disabled');
  refuseMigrating([document]);
  if (document?.disabled) throw new ApiError('FAILED_PRECONDITION', DISABLED);
}

/** Returns why the content of a document cannot be changed. Undefined if it can. */
export function refusalOf(document: Omit<WritableDocument, 'documentId'>): string | undefined {
  if (isMigrating(document)) return MIGRATES;
  return document.disabled ? DISABLED : undefined;
}
