import type { ResourceType } from '../app/rules/access.ts';
import { ApiError, fieldName, invalid, type Issue } from '../shared/errors.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { DocumentReader, type DocumentWriter, refuseArriving, refuseMigrating } from './documents.ts';
import { FolderReader, type FolderWriter } from './folders/folders.ts';
import { type Organization, OrganizationEntity } from './organizations.ts';
import { type OrganizationScope, organizationScope } from './organizationScope.ts';
import { requireWritable } from './requireWritable.ts';
import { documentResource, folderResource, organizationResource, type Resource } from './users.ts';
import type { ScopedResource } from './userWriter.ts';

/**
 * Returns the organization if neither document nor folder is named. Throws NOT_FOUND, and FAILED_PRECONDITION for a
 * document that a migration still fills, with `unmigrated` for any that is being migrated, and with `writable` for any that
 * can only be read.
 */
export async function requireResource(
  stores: { readonly documents: Pick<DocumentReader, 'require'>; readonly folders: Pick<FolderReader, 'require'> },
  scope: OrganizationScope,
  { documentId, folderId }: { readonly documentId?: string | undefined; readonly folderId?: string | undefined },
  { writable = false, unmigrated = false } = {},
): Promise<Resource> {
  if (documentId !== undefined) {
    const document = await stores.documents.require(scope, documentId);
    if (unmigrated) refuseMigrating([document]);
    if (writable) requireWritable({ document });
    return documentResource(document);
  }
  if (folderId !== undefined) return folderResource(await stores.folders.require(scope, folderId));
  return organizationResource(scope);
}

export interface NamedContent {
  readonly documentId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly createFolder?: boolean | undefined;
  readonly parentFolderId?: string | undefined;
}

/**
 * Creates a missing document if `newDocument` is given, and a missing folder if `createFolder` is true. Throws the
 * errors of their `ensure`, and FAILED_PRECONDITION for a document that can only be read.
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

export interface ResourceReference {
  readonly type: ResourceType;
  readonly id: string;
  readonly organizationId?: string | undefined;
  /** The field with the organization's id, if it is not in `permissions.resources`. */
  readonly path?: string[] | undefined;
}

interface ScopedReference extends ResourceReference {
  readonly scope: OrganizationScope;
  readonly disabledAt?: number | undefined;
}

export class ResourceFinder {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Throws INVALID_ARGUMENT for an unknown organization, and NOT_FOUND for a folder or document, each with its path in
   * `details.issues`. Throws FAILED_PRECONDITION for a document that a migration still fills and, with `writable`, for
   * an organization or document that can only be read.
   */
  async require<R extends ResourceReference>(
    tenant: string,
    named: readonly R[],
    { writable = false } = {},
  ): Promise<(R & ScopedResource & Pick<ScopedReference, 'disabledAt'>)[]> {
    const organizationIds = named.map(organizationOf);
    const organizations = requireEach(
      await this.#table.getMany(
        OrganizationEntity,
        organizationIds.map((organizationId) => ({ tenant, organizationId })),
      ),
      (index) => named[index]?.path ?? pathOf(index, named[index]?.type === 'organization' ? 'id' : 'organizationId'),
    );
    if (writable) organizations.forEach((organization) => requireWritable({ organization }));
    const scoped = named.map((reference, index) => ({
      ...reference,
      scope: organizationScope(tenant, organizations[index] as Organization),
      disabledAt: organizations[index]?.disabledAt,
    }));
    const internalIds = await this.#internalIds(scoped, writable);
    const issues = missingIssues(internalIds, (index) => pathOf(index, 'id'));
    if (issues.length > 0)
      throw new ApiError('NOT_FOUND', 'Folder or document does not exist', { details: { issues } });
    return scoped.map((reference, index) => ({
      ...reference,
      resource: { resourceType: reference.type, internalId: internalIds[index] as string },
    }));
  }

  async #internalIds(references: readonly ScopedReference[], writable: boolean): Promise<(string | undefined)[]> {
    const [folders, documents] = await Promise.all([
      readByOrganization(
        references.filter(({ type }) => type === 'folder'),
        new FolderReader(this.#table),
      ),
      readByOrganization(
        references.filter(({ type }) => type === 'document'),
        new DocumentReader(this.#table),
      ),
    ]);
    refuseArriving([...documents.values()]);
    for (const document of documents.values()) if (writable) requireWritable({ document });
    return references.map((reference) =>
      reference.type === 'organization'
        ? reference.scope.organizationKey
        : (folders.get(reference) ?? documents.get(reference))?.internalId,
    );
  }
}

async function readByOrganization<T>(
  references: readonly ScopedReference[],
  reader: { getByIds(scope: OrganizationScope, ids: readonly string[]): Promise<(T | undefined)[]> },
): Promise<ReadonlyMap<ResourceReference, T | undefined>> {
  const found = new Map<ResourceReference, T | undefined>();
  const groups = Map.groupBy(references, ({ scope }) => scope.organizationKey);
  const reads = [...groups.values()].map(async (group) => {
    const { scope } = group[0] as (typeof group)[number];
    const resources = await reader.getByIds(
      scope,
      group.map(({ id }) => id),
    );
    group.forEach((reference, index) => found.set(reference, resources[index]));
  });
  await Promise.all(reads);
  return found;
}

function organizationOf({ type, id, organizationId }: ResourceReference): string {
  return type === 'organization' ? id : (organizationId as string);
}

function pathOf(index: number, field: string): Issue['path'] {
  return ['permissions', 'resources', index, field];
}

export function requireEach<T>(values: readonly (T | undefined)[], pathTo: (index: number) => Issue['path']): T[] {
  const [unknown, ...others] = missingIssues(values, pathTo);
  if (unknown) throw invalid(unknown, ...others);
  return values.filter((value) => value !== undefined);
}

export function missingIssues(values: readonly unknown[], pathTo: (index: number) => Issue['path']): Issue[] {
  return values.flatMap((value, index) => {
    if (value !== undefined) return [];
    const path = pathTo(index);
    return [{ path, code: 'does_not_exist', message: `${fieldName(path)} does not exist` }];
  });
}

export const findResources = /* @__PURE__ */ storeCapability(ResourceFinder, ['BatchGetItem', 'Query']);
