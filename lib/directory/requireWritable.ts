import { ApiError } from '../shared/errors.ts';
import type { Document } from './documents.ts';
import type { Organization } from './organizations.ts';

/** Throws FAILED_PRECONDITION if the organization or the document is disabled. Disabled ones can only be read. */
export function requireWritable({
  organization,
  document,
}: {
  readonly organization?: Pick<Organization, 'disabled'> | undefined;
  readonly document?: Pick<Document, 'disabled'> | undefined;
}): void {
  if (organization?.disabled) throw new ApiError('FAILED_PRECONDITION', 'The organization is disabled');
  if (document?.disabled) throw new ApiError('FAILED_PRECONDITION', 'The document is disabled');
}
