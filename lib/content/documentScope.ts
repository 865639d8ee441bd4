import type { Capability } from '../app/capability.ts';
import { building } from '../app/capability.ts';
import { ApiError } from '../shared/errors.ts';
import { newDocumentAccess } from '../workspaces/configs/apiKeyConfig.ts';
import { type Document, readDocuments, writeDocuments } from '../directory/documents.ts';
import { type Place, placeOf } from '../directory/folders/folders.ts';
import { findOrganization, type Organization, writeOrganizations } from '../directory/organizations.ts';

/** Which content reads and writes are beneath: a document by its internal id. */
export interface DocumentPlace extends Place {
  /** The document's internal id. */
  readonly document: string;
}

/** A document that content lies in, with its organization. */
export interface ContentPlace {
  readonly organization: Organization;
  readonly document: Document;
  readonly place: DocumentPlace;
}

/** How requests name a document. */
export interface NamedDocument {
  readonly organizationId: string;
  readonly documentId: string;
}

export interface CreateFlags {
  readonly createOrganization?: boolean | undefined;
  readonly createDocument?: boolean | undefined;
}

/** Finds the document to read content of: INVALID_ARGUMENT when the organization does not exist, NOT_FOUND when the document does not. */
export type FindPlace = (tenant: string, named: NamedDocument) => Promise<ContentPlace>;

/** The same to write content to, making what is missing when the flags say so; FAILED_PRECONDITION while it is disabled. */
export type EnsurePlace = (tenant: string, named: NamedDocument & CreateFlags, now: number) => Promise<ContentPlace>;

function at(tenant: string, organization: Organization, document: Document): ContentPlace {
  return { organization, document, place: { ...placeOf(tenant, organization), document: document.internalId } };
}

/** FAILED_PRECONDITION while an organization or document is disabled: it can be read and not written to. */
export function requireWritable({
  organization,
  document,
}: Pick<ContentPlace, 'organization'> & Partial<Pick<ContentPlace, 'document'>>): void {
  if (organization.disabled) throw new ApiError('FAILED_PRECONDITION', 'The organization is disabled');
  if (document?.disabled) throw new ApiError('FAILED_PRECONDITION', 'The document is disabled');
}

export const findPlace: Capability<FindPlace> = /* @__PURE__ */ building([findOrganization, readDocuments], {
  grants: [],
  env: [],
  open: (env) => {
    const [organizations, documents] = [findOrganization.open(env), readDocuments.open(env)];
    return async (tenant, { organizationId, documentId }) => {
      const organization = await organizations.require(tenant, organizationId);
      return at(tenant, organization, await documents.require(placeOf(tenant, organization), documentId));
    };
  },
});

/** Find a document to write to; it is not made. */
export const findPlaceToWrite: Capability<FindPlace> = /* @__PURE__ */ building([findPlace], {
  grants: [],
  env: [],
  open: (env) => {
    const find = findPlace.open(env);
    return async (tenant, named) => {
      const found = await find(tenant, named);
      requireWritable(found);
      return found;
    };
  },
});

export const ensurePlace: Capability<EnsurePlace> = /* @__PURE__ */ building(
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
          await documents.ensure(placeOf(tenant, organization), documentId, accessType && { accessType }, now),
        );
        requireWritable(found);
        return found;
      };
    },
  },
);
