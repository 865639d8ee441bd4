/**
 * A model of organizations, folders, documents, users and groups. It has plain objects and no background jobs, so
 * deletions and moves take effect at once. Its rules of access:
 * - The nearest grant counts.
 * - A document in a folder has the access type of the folder.
 * - Removing a user from a resource also revokes the user's grants on everything in it.
 */

export type AccessType = 'public' | 'restricted' | 'organizationPrivate';
export type AccessRole = 'editor' | 'viewer';

export interface ModelFolder {
  readonly id: string;
  ownAccessType: AccessType | undefined;
  parent: ModelFolder | undefined;
}

export interface ModelDocument {
  readonly id: string;
  ownAccessType: AccessType;
  disabled: boolean;
  folder: ModelFolder | undefined;
  /** The partitions of items that jobs add or delete. Their number is unknown. */
  partitions?: readonly string[];
  /** How many records the document has got. Documents of the same id give their records the same ids. */
  records: number;
}

/** A stored item of the content of a resource. */
interface ModelItem {
  readonly item: Readonly<Record<string, any>>;
  readonly owner: ModelResource;
  /** The removal of any of these users deletes the item. */
  readonly removedWith: readonly string[];
  /** The erasure of any of these users deletes the item. */
  readonly erasedWith: readonly string[];
}

interface ModelGrant {
  role: AccessRole;
  readonly expiresAt: number | undefined;
  readonly fields: readonly string[];
}

/**
 * A resource on which users can have grants. Resources are compared by identity. If one is deleted and created again
 * with the same id, it is another resource.
 */
export type ModelResource = ModelOrganization | ModelFolder | ModelDocument;

/** A resource as a request names it. */
export interface NamedResource {
  readonly type: 'organization' | 'folder' | 'document';
  readonly id: string;
}

export class ModelOrganization {
  readonly id: string;
  disabled = false;
  readonly folders = new Map<string, ModelFolder>();
  readonly documents = new Map<string, ModelDocument>();
  readonly groups = new Map<string, Set<string>>();
  /** The users' grants: by user id, then by resource. */
  readonly grants = new Map<string, Map<ModelResource, ModelGrant>>();
  readonly contacts = new Map<ModelResource, Set<string>>();
  /** The items of the content, by primary key. */
  readonly content = new Map<string, ModelItem>();
  /**
   * Access fields that an answer of `permissions/get` may still contain until the jobs have ended, by user id. They
   * come from revoked grants, because `permissions/get` reads these fields without a check of the resources.
   */
  readonly revokedFields = new Map<string, Set<string>>();
  /** Items of removed users, which listings may still contain until the jobs have ended. */
  readonly removedContent: ModelItem[] = [];

  constructor(id: string) {
    this.id = id;
  }

  /** Returns undefined if there is no such organization, folder or document. */
  find({ type, id }: NamedResource): ModelResource | undefined {
    if (type === 'organization') return this;
    return type === 'folder' ? this.folders.get(id) : this.documents.get(id);
  }

  grantsOf(userId: string): Map<ModelResource, ModelGrant> {
    return upsert(this.grants, userId, () => new Map());
  }

  /**
   * Returns a user's grant on the resource itself. A grant that has expired at `now` (epoch milliseconds) does not
   * count.
   */
  currentGrant(userId: string, resource: ModelResource, now: number): ModelGrant | undefined {
    const grant = this.grantsOf(userId).get(resource);
    return grant && (grant.expiresAt === undefined || grant.expiresAt > now / 1000) ? grant : undefined;
  }

  contactsOf(resource: ModelResource): Set<string> {
    return upsert(this.contacts, resource, () => new Set());
  }

  #deleteContent(isDeleted: (item: ModelItem) => boolean): ModelItem[] {
    const deleted = [...this.content].filter(([, item]) => isDeleted(item));
    for (const [key] of deleted) this.content.delete(key);
    return deleted.map(([, item]) => item);
  }

  deleteDocument(document: ModelDocument): void {
    this.documents.delete(document.id);
    this.#revokeAll(document);
  }

  /** Deletes a folder with everything in it. */
  deleteFolder(folder: ModelFolder): void {
    for (const document of [...this.documents.values()])
      if (folderWithAncestors(document.folder).includes(folder)) this.deleteDocument(document);
    for (const inner of [...this.folders.values()].filter((other) => folderWithAncestors(other).includes(folder))) {
      this.folders.delete(inner.id);
      this.#revokeAll(inner);
    }
  }

  #revokeAll(resource: ModelResource): void {
    this.contacts.delete(resource);
    this.#deleteContent(({ owner }) => owner === resource);
    for (const userId of this.grants.keys()) this.#revoke(userId, resource);
  }

  #revoke(userId: string, resource: ModelResource): void {
    const lingering = upsert(this.revokedFields, userId, () => new Set<string>());
    for (const field of this.grantsOf(userId).get(resource)?.fields ?? []) lingering.add(field);
    this.grantsOf(userId).delete(resource);
  }

  /** Removes a user's grants on a resource and on everything in it, and the user's content. */
  removeUser(userId: string, resource: ModelResource): void {
    const isWithin = (other: ModelResource) => resource === this || withAncestors(other).includes(resource);
    for (const other of [...this.grantsOf(userId).keys()]) if (isWithin(other)) this.#revoke(userId, other);
    for (const [other, users] of this.contacts) if (isWithin(other)) users.delete(userId);
    if (resource === this) for (const users of this.groups.values()) users.delete(userId);
    const isRemoved = ({ owner, removedWith }: ModelItem) => removedWith.includes(userId) && isWithin(owner);
    this.removedContent.push(...this.#deleteContent(isRemoved));
  }

  eraseUser(userId: string): void {
    this.removeUser(userId, this);
    this.removedContent.push(...this.#deleteContent(({ erasedWith }) => erasedWith.includes(userId)));
  }

  /**
   * Returns the ids of the threads of documents, sorted. Threads of removed users are in the result only if they are in
   * `listed`, an answer.
   */
  threadsOf(documents: readonly ModelDocument[], listed: readonly string[]): string[] {
    const ids = (items: Iterable<ModelItem>) =>
      [...items].flatMap(({ owner, item }) =>
        item._t === 'Thread' && documents.includes(owner as ModelDocument) ? [item.annotationId as string] : [],
      );
    const removed = ids(this.removedContent).filter((id) => listed.includes(id));
    return [...new Set([...ids(this.content.values()), ...removed])].sort();
  }

  /**
   * Returns what `permissions/get` must answer about a user, for the organization and for the named folders and
   * documents.
   */
  permissions(
    userId: string,
    hasProfile: boolean,
    now: number,
    requested: { readonly folders: readonly string[]; readonly documents: readonly string[] },
  ) {
    const grants = this.grantsOf(userId);
    const live = (resource: ModelResource) => this.currentGrant(userId, resource, now);
    const toEntry = ({ role, expiresAt }: ModelGrant, accessType?: AccessType) => ({
      accessRole: role,
      ...(accessType && { accessType }),
      ...(expiresAt !== undefined && { expiresAt }),
    });
    const denied = (type: string, accessType?: AccessType) => ({
      error: `User does not have access to ${type}`,
      errorCode: 'permission_denied',
      ...(accessType && { accessType }),
    });
    const member = live(this);
    const entry = (type: string, resource: ModelFolder | ModelDocument, accessType: AccessType) => {
      const nearest = withAncestors(resource)
        .map(live)
        .find((grant) => grant !== undefined);
      if (nearest) return toEntry(nearest, accessType);
      if (accessType === 'public' && member) return { accessRole: member.role, accessType };
      if (accessType === 'organizationPrivate' && member) return toEntry(member, accessType);
      return accessType === 'public' && hasProfile ? { accessRole: 'editor', accessType } : denied(type, accessType);
    };
    const missing = (type: string) => ({ error: `${type} does not exist`, errorCode: 'does_not_exist' });
    const fields = [...new Set([...grants.keys()].flatMap((resource) => live(resource)?.fields ?? []))].sort();
    return {
      folders: Object.fromEntries(
        requested.folders.map((id) => {
          const folder = this.folders.get(id);
          return [id, folder ? entry('folder', folder, accessTypeOf(folder)) : missing('Folder')];
        }),
      ),
      documents: Object.fromEntries(
        requested.documents.map((id) => {
          const document = this.documents.get(id);
          return [id, document ? entry('document', document, accessTypeOf(document)) : missing('Document')];
        }),
      ),
      organization: { [this.id]: member ? toEntry(member) : denied('organization') },
      ...(fields.length > 0 && { context: { accessFields: fields } }),
    };
  }
}

/** Returns a folder and its ancestors, nearest first. Returns an empty list if `folder` is undefined. */
export function folderWithAncestors(folder: ModelFolder | undefined): ModelFolder[] {
  return folder ? [folder, ...folderWithAncestors(folder.parent)] : [];
}

/** Returns a resource and its ancestor folders, nearest first. */
function withAncestors(resource: ModelResource): ModelResource[] {
  if (resource instanceof ModelOrganization) return [resource];
  return 'disabled' in resource ? [resource, ...folderWithAncestors(resource.folder)] : folderWithAncestors(resource);
}

/** Returns the access type of a folder or document. A document in a folder has the folder's access type. */
export function accessTypeOf(resource: ModelFolder | ModelDocument): AccessType {
  if ('disabled' in resource) return resource.folder ? accessTypeOf(resource.folder) : resource.ownAccessType;
  return resource.ownAccessType ?? (resource.parent ? accessTypeOf(resource.parent) : 'public');
}

function upsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  if (!map.has(key)) map.set(key, make());
  return map.get(key) as V;
}
