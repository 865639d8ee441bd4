import type { Location } from './location.ts';

/** An organization or document by the customer's id, with its name and the customer's own fields as JSON text. */
interface OrganizationNames {
  readonly organizationId: string;
  readonly organizationName?: string | undefined;
  readonly metadata?: string | undefined;
}

interface DocumentNames {
  readonly documentId: string;
  readonly documentName?: string | undefined;
  readonly metadata?: string | undefined;
  readonly folder?: { readonly folderId: string } | undefined;
}

/** Where content lies, as customers know it. */
export interface ContentNames {
  readonly apiKey: string;
  readonly organization: OrganizationNames;
  readonly document: DocumentNames;
}

/** `metadata` of a shown record: the ids of where it lies, over whatever the caller keeps in it. */
export function recordMetadata(
  { apiKey, organization, document }: ContentNames,
  own?: string,
): Record<string, unknown> {
  return { ...parsed(own), apiKey, organizationId: organization.organizationId, documentId: document.documentId };
}

/** Where something happened that need not have happened in a document. */
export type EventNames = Omit<ContentNames, 'document'> & { readonly document?: DocumentNames | undefined };

/** `metadata` of an event (facts B7): where it happened, with names and the customer's own fields. */
export function eventMetadata(
  { apiKey, organization, document }: EventNames,
  location?: Location,
): Record<string, unknown> {
  const { organizationId, organizationName } = organization;
  return {
    apiKey,
    organization: {
      ...parsed(organization.metadata),
      organizationId,
      ...(organizationName !== undefined && { organizationName }),
    },
    ...(document && documentMetadata(document)),
    ...(location && { locations: [location] }),
  };
}

function documentMetadata({ documentId, documentName, folder, metadata }: DocumentNames): Record<string, unknown> {
  return {
    document: { ...parsed(metadata), documentId, ...(documentName !== undefined && { documentName }) },
    ...(folder && { folderId: folder.folderId }),
  };
}

/** The same reduced to ids, for an event that would be too large. */
export function eventMetadataIds({
  apiKey,
  organization: { organizationId },
  document: { documentId },
}: ContentNames): Record<string, unknown> {
  return { apiKey, organization: { organizationId }, document: { documentId } };
}

function parsed(text: string | undefined): Record<string, unknown> {
  return text === undefined ? {} : (JSON.parse(text) as Record<string, unknown>);
}
