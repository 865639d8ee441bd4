import * as z from 'zod';
import { readJson } from '../../shared/jsonFields.ts';
import { defineNamedSchema } from '../../shared/schema.ts';
import type { Location } from './location.ts';

/** The id and name that the customer gave an organization. `metadata` has the customer's own fields as JSON text. */
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

/** The organization and document of a record. The metadata of responses and events is made from them. */
export interface ContentNames {
  readonly apiKey: string;
  readonly organization: OrganizationNames;
  readonly document: DocumentNames;
}

/** The `metadata` of a record without own fields. */
export const RecordNames = /* @__PURE__ */ defineNamedSchema('RecordMetadata', () =>
  z
    .object({
      apiKey: z.string().describe('The API key whose data this is.'),
      organizationId: z.string().describe('The organization, by the id that you chose.'),
      documentId: z.string(),
    })
    .describe('Where the record belongs.'),
);

/** The ids that the `metadata` of a response contains, besides the document id. */
export interface ResponseNames {
  readonly apiKey: string;
  readonly organizationId: string;
}

/**
 * Returns the `metadata` of a record for a response: the customer's own fields, and the ids of the organization and the document.
 * The ids replace own fields with the same names.
 */
export function recordMetadata(
  { apiKey, organization, document }: ContentNames,
  own?: string,
): Record<string, unknown> {
  return {
    ...readJson<object>(own),
    apiKey,
    organizationId: organization.organizationId,
    documentId: document.documentId,
  };
}

/** The organization and document of an event. `document` is undefined if the event is not about a document. */
export type EventNames = Omit<ContentNames, 'document'> & { readonly document?: DocumentNames | undefined };

/** Returns the `metadata` of an event: the organization and the document, with their names and the customer's own fields. */
export function eventMetadata(
  { apiKey, organization, document }: EventNames,
  location?: Location,
): Record<string, unknown> {
  const { organizationId, organizationName } = organization;
  return {
    apiKey,
    organization: {
      ...readJson<object>(organization.metadata),
      organizationId,
      ...(organizationName !== undefined && { organizationName }),
    },
    ...(document && documentMetadata(document)),
    ...(location && { locations: [location] }),
  };
}

function documentMetadata({ documentId, documentName, folder, metadata }: DocumentNames): Record<string, unknown> {
  return {
    document: { ...readJson<object>(metadata), documentId, ...(documentName !== undefined && { documentName }) },
    ...(folder && { folderId: folder.folderId }),
  };
}

/** Returns the `metadata` of an event whose payload would otherwise be too large. It has only ids. */
export function eventMetadataIds({
  apiKey,
  organization: { organizationId },
  document: { documentId },
}: ContentNames): Record<string, unknown> {
  return { apiKey, organization: { organizationId }, document: { documentId } };
}
