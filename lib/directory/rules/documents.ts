import * as z from 'zod';
import { accessTypes } from '../../app/rules/access.ts';
import { readJson } from '../../shared/jsonFields.ts';
import {
  AnyObject,
  defineNamedSchema,
  defineSchema,
  Id,
  limits,
  list,
  MetadataFilters,
  Name,
  OpenObject,
  optional,
  pagesOrIds,
  withRefusal,
} from '../../shared/schema.ts';

export const DocumentInput = /* @__PURE__ */ defineNamedSchema('DocumentInput', () =>
  z
    .object({
      documentId: Id,
      documentName: optional(Name).describe('The title that users see, for example in mails.'),
      accessType: optional(z.enum(accessTypes)).describe(
        'Who can open the document without a grant: `public` all users that you have added, `organizationPrivate` the members of the organization, `restricted` nobody. In a folder, that of the folder counts. A new document has by default the `defaultDocumentAccessType` of the API key, at first `public`.',
      ),
      metadata: optional(OpenObject).describe(
        'Fields of your own. `filters` of `/v2/organizations/documents/get` searches them; `url` is the link in mails.',
      ),
    })
    .describe('A document to add, or the fields of a document to change.'),
);

const NO_VIEW_ORDER = 'must not be true: this service does not sort documents by views of comments';

export const DocumentQuery = /* @__PURE__ */ defineSchema(() =>
  pagesOrIds('documentIds', {
    organizationId: Id,
    documentIds: optional(list(Id, limits.readIds)),
    folderId: optional(Id).describe(
      'Selects the documents directly in this folder. `root` selects those at the top level.',
    ),
    filters: optional(MetadataFilters),
    orderByCommentViews: optional(
      withRefusal(z.boolean().check(z.refine((isRequested) => !isRequested, { error: NO_VIEW_ORDER })), {
        values: '`true`',
        message: NO_VIEW_ORDER,
      }),
    ),
  }),
);

export const DocumentResponse = /* @__PURE__ */ defineNamedSchema('Document', () =>
  z
    .object({
      id: z.string().describe('The document, by the id that you chose.'),
      documentName: z.string().optional().describe('The title that users see. Absent if it was never set.'),
      disabled: z.boolean().describe('Whether additions and changes in the document are refused.'),
      accessType: z.enum(accessTypes),
      folderId: z.string().optional().describe('The folder that contains the document. Absent at the top level.'),
      metadata: AnyObject.optional().describe('Fields of your own. Absent if there are none.'),
    })
    .describe('A document of an organization.'),
);
type DocumentResponse = z.output<typeof DocumentResponse>;

interface RespondedDocument extends Pick<DocumentResponse, 'documentName' | 'disabled' | 'accessType'> {
  readonly documentId: string;
  readonly folder?: Required<Pick<DocumentResponse, 'accessType' | 'folderId'>> | undefined;
  readonly metadata?: string | undefined;
}

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
