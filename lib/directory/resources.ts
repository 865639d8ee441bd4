import { type NamedContent, requireWritable } from '../content/documentScope.ts';
import { ApiError, fieldName, invalid, type Issue } from '../shared/errors.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { type Document, DocumentEntity, DocumentReader, type DocumentWriter } from './documents.ts';
import {
  type Folder,
  FolderEntity,
  FolderReader,
  type FolderWriter,
  type OrganizationScope,
  organizationScope,
} from './folders/folders.ts';
import { OrganizationEntity } from './organizations.ts';
import type { ResourceType } from './rules/access.ts';
import { documentResource, folderResource, organizationResource, type Resource } from './users.ts';
import type { ScopedResource } from './userWriter.ts';

/**
 * Returns the document or folder that a request names. Returns the organization if the request names neither. Throws NOT_FOUND if
 * the document or folder does not exist. With `writable`, throws FAILED_PRECONDITION if the document is disabled.
 */
export async function requireResource(
  stores: { readonly documents: Pick<DocumentReader, 'require'>; readonly folders: Pick<FolderReader, 'require'> },
  scope: OrganizationScope,
  { documentId, folderId }: { readonly documentId?: string | undefined; readonly folderId?: string | undefined },
  { writable = false } = {},
): Promise<Resource> {
  if (documentId !== undefined) {
    const document = await stores.documents.require(scope, documentId);
    if (writable) requireWritable({ document });
    return documentResource(document);
  }
  if (folderId !== undefined) return folderResource(await stores.folders.require(scope, folderId));
  return organizationResource(scope);
}

/**
 * Returns the resource that a request writes to: the named document or folder, or the organization if neither is named. Creates a
 * missing document if `newDocument` is given, and a missing folder if `createFolder` is true. Otherwise throws NOT_FOUND for a
 * missing resource. Throws FAILED_PRECONDITION if the document is disabled.
 */
export async function ensureResource(
  stores: { readonly documents: Pick<DocumentWriter, 'ensure'>; readonly folders: Pick<FolderWriter, 'ensure'> },
  scope: OrganizationScope,
  { documentId, folderId, createFolder = false, parentFolderId }: NamedContent,
  newDocument: Parameters<DocumentWriter['ensure']>[2],
  now: number,
): Promise<Resource> {
  if (documentId !== undefined) {
    const document = await stores.documents.ensure(scope, documentId, newDocument, now);
    requireWritable({ document });
    return documentResource(document);
  }
  if (folderId !== undefined)
    return folderResource(await stores.folders.ensure(scope, folderId, createFolder, now, parentFolderId));
  return organizationResource(scope);
}

/** An organization, folder or document in a request for permissions. `id` is the id that the customer chose. */
export interface ResourceReference {
  readonly type: ResourceType;
  readonly id: string;
  /** Required for folders and documents. Ignored for organizations. */
  readonly organizationId?: string | undefined;
  /** The path of the field with the organization's id, if this field is not in `permissions.resources`. */
  readonly path?: string[] | undefined;
}

/** Finds the resources that a request for permissions names. They can be in several organizations. */
export class ResourceFinder {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns the resources in the order of `named`. Throws INVALID_ARGUMENT if an organization does not exist, and NOT_FOUND if a
   * folder or document does not exist. `details.issues` has the path of each missing resource. With `writable`, throws
   * FAILED_PRECONDITION if an organization or document is disabled.
   */
  async require(
    tenant: string,
    named: readonly ResourceReference[],
    { writable = false } = {},
  ): Promise<ScopedResource[]> {
    const organizationIds = named.map(organizationOf);
    const organizations = await this.#table.getMany(
      OrganizationEntity,
      organizationIds.map((organizationId) => ({ tenant, organizationId })),
    );
    const [unknown, ...others] = missingIssues(
      organizations,
      (index) => named[index]?.path ?? pathOf(index, named[index]?.type === 'organization' ? 'id' : 'organizationId'),
    );
    if (unknown) throw invalid(unknown, ...others);

    const scopes = organizations.map((organization) =>
      organizationScope(tenant, organization as NonNullable<typeof organization>),
    );
    if (writable) organizations.forEach((organization) => requireWritable({ organization }));
    const internalIds = await this.#internalIds(named, scopes, writable);
    const issues = missingIssues(internalIds, (index) => pathOf(index, 'id'));
    if (issues.length > 0)
      throw new ApiError('NOT_FOUND', 'Folder or document does not exist', { details: { issues } });
    return named.map(({ type }, index) => ({
      scope: scopes[index] as OrganizationScope,
      resource: { resourceType: type, internalId: internalIds[index] as string },
    }));
  }

  async #internalIds(
    named: readonly ResourceReference[],
    scopes: readonly OrganizationScope[],
    writable: boolean,
  ): Promise<(string | undefined)[]> {
    const select = (type: ResourceType) =>
      named.flatMap((resource, index) =>
        resource.type === type ? [{ index, scope: scopes[index] as OrganizationScope, id: resource.id }] : [],
      );
    const folders = select('folder');
    const documents = select('document');
    const [storedFolders, storedDocuments] = await Promise.all([
      readResources<Folder>(folders, new FolderReader(this.#table), () =>
        this.#table.getMany(
          FolderEntity,
          folders.map(({ scope, id }) => ({ ...scope, folderId: id })),
        ),
      ),
      readResources<Document>(documents, new DocumentReader(this.#table), () =>
        this.#table.getMany(
          DocumentEntity,
          documents.map(({ scope, id }) => ({ ...scope, documentId: id })),
        ),
      ),
    ]);
    if (writable && storedDocuments.some((document) => document?.disabled))
      throw new ApiError('FAILED_PRECONDITION', 'The document is disabled');
    const internalIds: (string | undefined)[] = scopes.map(({ organizationKey }) => organizationKey);
    folders.forEach(({ index }, position) => (internalIds[index] = storedFolders[position]?.internalId));
    documents.forEach(({ index }, position) => (internalIds[index] = storedDocuments[position]?.internalId));
    return internalIds;
  }
}

/** The id of a folder or document in a request for permissions, with the scope of its organization. */
interface ScopedId {
  readonly scope: OrganizationScope;
  readonly id: string;
}

/**
 * Returns the resources in the order of `named`. Usually calls `readAll` once. If a job is applying changes of folders in one of
 * the organizations, reads the resources of each organization with `reader` instead.
 */
async function readResources<T>(
  named: readonly ScopedId[],
  reader: { getByIds(scope: OrganizationScope, ids: readonly string[]): Promise<(T | undefined)[]> },
  readAll: () => Promise<(T | undefined)[]>,
): Promise<(T | undefined)[]> {
  if (!named.some(({ scope }) => scope.hasFolderChanges)) return readAll();
  const byOrganization = [...Map.groupBy(named, ({ scope }) => scope.organizationKey).values()];
  const results = new Map<ScopedId, T | undefined>();
  await Promise.all(
    byOrganization.map(async (group) => {
      const { scope } = group[0] as ScopedId;
      const resources = await reader.getByIds(
        scope,
        group.map(({ id }) => id),
      );
      group.forEach((scopedId, index) => results.set(scopedId, resources[index]));
    }),
  );
  return named.map((scopedId) => results.get(scopedId));
}

function organizationOf({ type, id, organizationId }: ResourceReference): string {
  return type === 'organization' ? id : (organizationId as string);
}

/** Returns the path of a field of the resource with this index in the request. */
function pathOf(index: number, field: string): Issue['path'] {
  return ['permissions', 'resources', index, field];
}

/** Returns an issue for each undefined value. `pathTo` returns the path of the field that names the resource with this index. */
function missingIssues(values: readonly unknown[], pathTo: (index: number) => Issue['path']): Issue[] {
  return values.flatMap((value, index) => {
    if (value !== undefined) return [];
    const path = pathTo(index);
    return [{ path, code: 'does_not_exist', message: `${fieldName(path)} does not exist` }];
  });
}

export const findResources = /* @__PURE__ */ storeCapability(ResourceFinder, ['BatchGetItem', 'Query']);
