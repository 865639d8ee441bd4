import type { Capability } from '../capability.ts';
import type { ResourceType } from '../domain/access.ts';
import { ApiError, invalid } from '../errors.ts';
import { DocumentEntity } from './documents.ts';
import { FolderEntity, type Place, placeOf } from './folders.ts';
import { OrganizationEntity } from './organizations.ts';
import { openTable, type Table } from './table.ts';
import type { ResourceAt } from './users.ts';

/** An organization, folder or document as a permission call names it. */
export interface NamedResource {
  readonly type: ResourceType;
  readonly id: string;
  /** Required for folders and documents; that of an organization is its own id. */
  readonly organizationId?: string | undefined;
}

/** Finds what permission calls name, across organizations, in two reads: the organizations, then what lies in them. */
export class ResourceFinder {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Every resource, in order. INVALID_ARGUMENT when an organization does not exist, NOT_FOUND when a folder or document
   * does not, with the place of each in `details.issues`.
   */
  async require(tenant: string, named: readonly NamedResource[]): Promise<ResourceAt[]> {
    const organizationIds = named.map(organizationOf);
    const organizations = await this.#table.getMany(OrganizationEntity, organizationIds.map((organizationId) => ({ tenant, organizationId })));
    const [unknown, ...others] = missing(organizations, (index) => ['permissions', 'resources', index, named[index]?.type === 'organization' ? 'id' : 'organizationId']);
    if (unknown) throw invalid(unknown, ...others);

    const places = organizations.map((organization) => placeOf(tenant, organization as NonNullable<typeof organization>));
    const internalIds = await this.#internalIds(named, places);
    const issues = missing(internalIds, (index) => ['permissions', 'resources', index, 'id']);
    if (issues.length > 0) throw new ApiError('NOT_FOUND', 'Folder or document does not exist', { details: { issues } });
    return named.map(({ type }, index) => ({ place: places[index] as Place, resource: { resourceType: type, internalId: internalIds[index] as string } }));
  }

  async #internalIds(named: readonly NamedResource[], places: readonly Place[]): Promise<(string | undefined)[]> {
    const of = (type: ResourceType) => named.flatMap((resource, index) => (resource.type === type ? [{ index, place: places[index] as Place, id: resource.id }] : []));
    const folders = of('folder');
    const documents = of('document');
    const [foundFolders, foundDocuments] = await Promise.all([
      this.#table.getMany(FolderEntity, folders.map(({ place, id }) => ({ ...place, folderId: id }))),
      this.#table.getMany(DocumentEntity, documents.map(({ place, id }) => ({ ...place, documentId: id }))),
    ]);
    const internalIds: (string | undefined)[] = places.map(({ organization }) => organization);
    folders.forEach(({ index }, at) => (internalIds[index] = foundFolders[at]?.internalId));
    documents.forEach(({ index }, at) => (internalIds[index] = foundDocuments[at]?.internalId));
    return internalIds;
  }
}

function organizationOf({ type, id, organizationId }: NamedResource): string {
  return type === 'organization' ? id : (organizationId as string);
}

function missing(found: readonly unknown[], path: (index: number) => (string | number)[]) {
  return found.flatMap((one, index) => {
    if (one !== undefined) return [];
    const [permissions, resources, at, field] = path(index);
    return [{ path: path(index), code: 'does_not_exist', message: `${permissions}.${resources}[${at}].${field} does not exist` }];
  });
}

export const findResources: Capability<ResourceFinder> = {
  grants: [{ resource: 'table', actions: ['BatchGetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ResourceFinder(openTable(env)),
};
