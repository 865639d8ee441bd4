import { ApiError } from '../shared/errors.ts';
import { type Document, refuseMigrating } from './documents.ts';
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
  if (document?.disabled) throw new ApiError('FAILED_PRECONDITION', 'The document is disabled');
}

/** False for a disabled document, and for one that is being migrated. */
export function isWritable({ disabled, leaving, arriving }: Omit<WritableDocument, 'documentId'>): boolean {
  return !disabled && !leaving && !arriving;
}
