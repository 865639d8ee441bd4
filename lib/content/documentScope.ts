import { type Capability, combine } from '../app/capability.ts';
import { ABSENT, type Document, readDocuments, writeDocuments } from '../directory/documents.ts';
import { folderNotFound, parentFolderNotFound } from '../directory/folders/folders.ts';
import { findOrganization, type Organization, writeOrganizations } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { requireWritable } from '../directory/requireWritable.ts';
import type { NamedContent } from '../directory/resources.ts';
import { canBeFolder, rootFolderId } from '../directory/rules/folders.ts';
import { ApiError } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { newDocumentAccess } from '../workspaces/configs/apiKeyConfig.ts';

export interface DocumentScope extends OrganizationScope {
  readonly documentKey: string;
  /** While a migration runs, the id that some records of the document already have. */
  readonly renamedTo?: string | undefined;
}

export type NamedDocument = Pick<Document, 'internalId'> & Partial<Pick<Document, 'leaving'>>;

export function documentScope(scope: OrganizationScope, { internalId, leaving }: NamedDocument): DocumentScope {
  return { ...scope, documentKey: internalId, ...(leaving && { renamedTo: leaving.to }) };
}

export interface DocumentContext {
  readonly organization: Organization;
  readonly document: Document;
  readonly scope: DocumentScope;
}

export interface DocumentReference {
  readonly organizationId: string;
  readonly documentId: string;
}

export interface CreateFlags {
  readonly createOrganization?: boolean | undefined;
  readonly createDocument?: boolean | undefined;
}

/**
 * Throws INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown document, and FAILED_PRECONDITION for a
 * document that still has another id until its migration ends. `findWritableDocument` also throws FAILED_PRECONDITION
 * if the organization or document is disabled or the document is being migrated.
 */
export type FindDocument = (tenant: string, reference: DocumentReference) => Promise<DocumentContext>;

/**
 * Creates what is missing if the request sets the flag for it, otherwise throws like `FindDocument`. Also throws
 * FAILED_PRECONDITION if the organization or document is disabled or the document is being migrated.
 */
export type EnsureDocument = (
  tenant: string,
  reference: DocumentReference & CreateFlags,
  now: number,
) => Promise<DocumentContext>;

function toContext(tenant: string, organization: Organization, document: Document): DocumentContext {
  return { organization, document, scope: documentScope(organizationScope(tenant, organization), document) };
}

export const findDocument: Capability<FindDocument> = /* @__PURE__ */ combine(
  { organizations: findOrganization, documents: readDocuments },
  ({ organizations, documents }): FindDocument =>
    async (tenant, { organizationId, documentId }) => {
      const { organization, content: document } = await organizations.readWithin(tenant, organizationId, (keys) =>
        documents.require(organizationScope(tenant, keys), documentId),
      );
      return toContext(tenant, organization, document);
    },
);

export const findWritableDocument: Capability<FindDocument> = /* @__PURE__ */ combine(
  { find: findDocument },
  ({ find }): FindDocument =>
    async (tenant, reference) => {
      const context = await find(tenant, reference);
      requireWritable(context);
      return context;
    },
);

type FindWritableOrganization = (tenant: string, organizationId: string) => Promise<Stored<Organization>>;

export const findWritableOrganization: Capability<FindWritableOrganization> = /* @__PURE__ */ combine(
  { organizations: findOrganization },
  ({ organizations }) =>
    async (tenant, organizationId) => {
      const organization = await organizations.require(tenant, organizationId);
      requireWritable({ organization });
      return organization;
    },
);

type FindWritableSelection = (
  tenant: string,
  selection: { readonly organizationId: string; readonly documentId?: string | undefined },
) => Promise<{ readonly organization: Stored<Organization>; readonly document: Document | undefined }>;

export const findWritableSelection: Capability<FindWritableSelection> = /* @__PURE__ */ combine(
  { organizations: findOrganization, documents: readDocuments },
  ({ organizations, documents }) =>
    async (tenant, { organizationId, documentId }) => {
      const { organization, content: document } = await organizations.readWithin(
        tenant,
        organizationId,
        async (keys) =>
          documentId === undefined ? undefined : documents.require(organizationScope(tenant, keys), documentId),
      );
      requireWritable({ organization, document });
      return { organization, document };
    },
);

/**
 * If the organization is missing and the request names a document or folder that it could not have when it is new,
 * creates nothing and throws NOT_FOUND.
 */
type EnsureOrganization = (
  tenant: string,
  request: { readonly organizationId: string } & CreateFlags & NamedContent,
  now: number,
) => Promise<Organization>;

export const ensureOrganization: Capability<EnsureOrganization> = /* @__PURE__ */ combine(
  { organizations: writeOrganizations },
  ({ organizations }) =>
    async (tenant, { organizationId, createOrganization = false, ...named }, now) => {
      const refusal = missingInNew(named);
      const organization = await organizations.ensure(tenant, organizationId, createOrganization, now, refusal);
      requireWritable({ organization });
      return organization;
    },
);

function missingInNew({
  documentId,
  createDocument = false,
  folderId,
  createFolder = false,
  parentFolderId = rootFolderId,
}: NamedContent & Pick<CreateFlags, 'createDocument'>): ApiError | undefined {
  if (documentId !== undefined) return createDocument ? undefined : new ApiError('NOT_FOUND', ABSENT);
  if (folderId === undefined) return undefined;
  if (!createFolder || !canBeFolder(folderId, parentFolderId)) return folderNotFound();
  return parentFolderId === rootFolderId ? undefined : parentFolderNotFound();
}

export const ensureDocument: Capability<EnsureDocument> = /* @__PURE__ */ combine(
  { ensure: ensureOrganization, documents: writeDocuments, accessOfNew: newDocumentAccess },
  ({ ensure, documents, accessOfNew }): EnsureDocument =>
    async (tenant, { organizationId, createOrganization, documentId, createDocument = false }, now) => {
      const [organization, accessType] = await Promise.all([
        ensure(tenant, { organizationId, createOrganization, documentId, createDocument }, now),
        createDocument ? accessOfNew(tenant) : undefined,
      ]);
      const scope = organizationScope(tenant, organization);
      const document = await documents.ensure(scope, documentId, accessType && { accessType }, now);
      const context = toContext(tenant, organization, document);
      requireWritable(context);
      return context;
    },
);
