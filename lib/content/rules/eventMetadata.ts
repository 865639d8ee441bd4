import * as z from 'zod';
import { readJson } from '../../shared/jsonFields.ts';
import { defineNamedSchema } from '../../shared/schema.ts';
import type { Location } from './location.ts';

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

export interface ContentNames {
  readonly apiKey: string;
  readonly organization: OrganizationNames;
  readonly document: DocumentNames;
}

export const RecordNames = /* @__PURE__ */ defineNamedSchema('RecordMetadata', () =>
  z
    .object({
      apiKey: z.string().describe('The API key whose data this is.'),
      organizationId: z.string().describe('The organization, by the id that you chose.'),
      documentId: z.string(),
    })
    .describe('Where the record belongs.'),
);

export interface ResponseNames {
  readonly apiKey: string;
  readonly organizationId: string;
}

/** Ids replace own fields with the same names. */
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

export type EventNames = Omit<ContentNames, 'document'> & { readonly document?: DocumentNames | undefined };

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

export function eventMetadataIds({
  apiKey,
  organization: { organizationId },
  document: { documentId },
}: ContentNames): Record<string, unknown> {
  return { apiKey, organization: { organizationId }, document: { documentId } };
}
