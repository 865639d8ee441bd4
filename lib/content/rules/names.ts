import type { Location } from './location.ts';

/** The id and name that the customer gave an organization, and the customer's own fields as JSON text (`metadata`). */
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

/** The organization and document of content, in the form that responses and events are made from. */
export interface ContentNames {
  readonly apiKey: string;
  readonly organization: OrganizationNames;
  readonly document: DocumentNames;
}

/**
 * Returns the `metadata` of a record in a response: the customer's own fields, overwritten by the ids of organization and
 * document.
 */
export function recordMetadata(
  { apiKey, organization, document }: ContentNames,
  own?: string,
): Record<string, unknown> {
  return { ...parsed(own), apiKey, organizationId: organization.organizationId, documentId: document.documentId };
}

/** The organization and document of an event. An event that is not about a document has no document. */
export type EventNames = Omit<ContentNames, 'document'> & { readonly document?: DocumentNames | undefined };

/** Returns the `metadata` of an event: the organization and document with their names and the customer's own fields. */
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

/** Returns the `metadata` of an event whose payload would be too large. It has ids only. */
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
