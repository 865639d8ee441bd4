import * as z from 'zod';
import { readJson } from '../../shared/jsonFields.ts';
import { AnyObject, defineNamedSchema, Id, Name, OpenObject, optional } from '../../shared/schema.ts';
import { accessTypes } from './access.ts';

/** A document that a request adds or changes. */
export const DocumentInput = /* @__PURE__ */ defineNamedSchema('DocumentInput', () =>
  z.object({
    documentId: Id,
    documentName: optional(Name),
    accessType: optional(z.enum(accessTypes)),
    metadata: optional(OpenObject),
  }),
);

export const DocumentResponse = /* @__PURE__ */ defineNamedSchema('Document', () =>
  z.object({
    id: z.string(),
    documentName: z.string().optional(),
    disabled: z.boolean(),
    accessType: z.enum(accessTypes),
    folderId: z.string().optional(),
    metadata: AnyObject.optional(),
  }),
);
type DocumentResponse = z.output<typeof DocumentResponse>;

/** The fields of a stored document and its folder that a response is made from. */
interface RespondedDocument extends Pick<DocumentResponse, 'documentName' | 'disabled' | 'accessType'> {
  readonly documentId: string;
  readonly folder?: Required<Pick<DocumentResponse, 'accessType' | 'folderId'>> | undefined;
  /** The customer's own fields, as JSON text. */
  readonly metadata?: string | undefined;
}

/** Returns a document in the form of responses. A document in a folder has the access type of the folder. */
export function toDocumentResponse(document: RespondedDocument): DocumentResponse {
  const { documentId: id, documentName, disabled, accessType, folder, metadata } = document;
  return {
    id,
    documentName,
    disabled,
    accessType: folder?.accessType ?? accessType,
    folderId: folder?.folderId,
    metadata: readJson<Record<string, unknown>>(metadata),
  };
}
