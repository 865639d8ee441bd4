import type { Capability } from '../app/capability.ts';
import { building } from '../app/capability.ts';
import { ApiError } from '../shared/errors.ts';
import { newDocumentAccess } from '../workspaces/configs/apiKeyConfig.ts';
import { type Document, readDocuments, writeDocuments } from '../directory/documents.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import { findOrganization, type Organization, writeOrganizations } from '../directory/organizations.ts';

/** Which content reads and writes are beneath: a document by its internal id. */
export interface DocumentScope extends OrganizationScope {
  /** The document's internal id. */
  readonly documentKey: string;
}

/** A document that content lies in, with its organization. */
export interface DocumentContext {
  readonly organization: Organization;
  readonly document: Document;
  readonly scope: DocumentScope;
}

/** How requests name a document. */
export interface DocumentReference {
  readonly organizationId: string;
  readonly documentId: string;
}

export interface CreateFlags {
  readonly createOrganization?: boolean | undefined;
  readonly createDocument?: boolean | undefined;
}

/** Finds the document to read content of: INVALID_ARGUMENT when the organization does not exist, NOT_FOUND when the document does not. */
export type FindDocument = (tenant: string, named: DocumentReference) => Promise<DocumentContext>;

/** The same to write content to, making what is missing when the flags say so; FAILED_PRECONDITION while it is disabled. */
export type EnsureDocument = (
  tenant: string,
  named: DocumentReference & CreateFlags,
  now: number,
) => Promise<DocumentContext>;

function at(tenant: string, organization: Organization, document: Document): DocumentContext {
  return {
    organization,
    document,
    scope: { ...organizationScope(tenant, organization), documentKey: document.internalId },
  };
}

/** FAILED_PRECONDITION while an organization or document is disabled: it can be read and not written to. */
export function requireWritable({
  organization,
  document,
}: Pick<DocumentContext, 'organization'> & Partial<Pick<DocumentContext, 'document'>>): void {
  if (organization.disabled) throw new ApiError('FAILED_PRECONDITION', 'The organization is disabled');
  if (document?.disabled) throw new ApiError('FAILED_PRECONDITION', 'The document is disabled');
}

export const findDocument: Capability<FindDocument> = /* @__PURE__ */ building([findOrganization, readDocuments], {
  grants: [],
  env: [],
  open: (env) => {
    const [organizations, documents] = [findOrganization.open(env), readDocuments.open(env)];
    return async (tenant, { organizationId, documentId }) => {
      const organization = await organizations.require(tenant, organizationId);
      return at(tenant, organization, await documents.require(organizationScope(tenant, organization), documentId));
    };
  },
});

/** Find a document to write to; it is not made. */
export const findWritableDocument: Capability<FindDocument> = /* @__PURE__ */ building([findDocument], {
  grants: [],
  env: [],
  open: (env) => {
    const find = findDocument.open(env);
    return async (tenant, named) => {
      const found = await find(tenant, named);
      requireWritable(found);
      return found;
    };
  },
});

export const ensureDocument: Capability<EnsureDocument> = /* @__PURE__ */ building(
  [writeOrganizations, writeDocuments, newDocumentAccess],
  {
    grants: [],
    env: [],
    open: (env) => {
      const [organizations, documents, accessOfNew] = [
        writeOrganizations.open(env),
        writeDocuments.open(env),
        newDocumentAccess.open(env),
      ];
      return async (
        tenant,
        { organizationId, documentId, createOrganization = false, createDocument = false },
        now,
      ) => {
        const [organization, accessType] = await Promise.all([
          organizations.ensure(tenant, organizationId, createOrganization, now),
          createDocument ? accessOfNew(tenant) : undefined,
        ]);
        requireWritable({ organization });
        const found = at(
          tenant,
          organization,
          await documents.ensure(
            organizationScope(tenant, organization),
            documentId,
            accessType && { accessType },
            now,
          ),
        );
        requireWritable(found);
        return found;
      };
    },
  },
);
