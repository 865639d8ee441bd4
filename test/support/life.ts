/**
 * A reference model of organizations, folders, documents, users and groups: plain objects without background jobs. A
 * deletion removes the object at once, and a move takes effect at once. Access follows these rules: the nearest grant
 * wins, a document in a folder has the access type of the folder, and removing a user from a resource also revokes the
 * user's grants in it.
 */

export type AccessType = 'public' | 'restricted' | 'organizationPrivate';
export type AccessRole = 'editor' | 'viewer';

export interface LivingFolder {
  readonly id: string;
  own: AccessType | undefined;
  parent: LivingFolder | undefined;
}

export interface LivingDocument {
  readonly id: string;
  own: AccessType;
  disabled: boolean;
  folder: LivingFolder | undefined;
  /** The ids of the threads of the document. */
  readonly threads: Set<string>;
}

interface Grant {
  role: AccessRole;
  readonly expiresAt: number | undefined;
  readonly fields: readonly string[];
}

/**
 * A resource on which users have grants. Compared by identity: a resource that is created again under the same id is a
 * new one.
 */
export type Thing = LivingOrganization | LivingFolder | LivingDocument;

/** The resource that a request names. */
export interface Named {
  readonly type: 'organization' | 'folder' | 'document';
  readonly id: string;
}

export class LivingOrganization {
  readonly id: string;
  disabled = false;
  readonly folders = new Map<string, LivingFolder>();
  readonly documents = new Map<string, LivingDocument>();
  readonly groups = new Map<string, Set<string>>();
  /** By user id, then by resource. */
  readonly grants = new Map<string, Map<Thing, Grant>>();
  readonly contacts = new Map<Thing, Set<string>>();
  /**
   * Access fields of revoked grants, by user id. The access context is read without checking the resources,
   * so it may contain these fields until the jobs have ended.
   */
  readonly lingering = new Map<string, Set<string>>();

  constructor(id: string) {
    this.id = id;
  }

  /** Returns the named organization, folder or document, or undefined. */
  find({ type, id }: Named): Thing | undefined {
    return type === 'organization' ? this : type === 'folder' ? this.folders.get(id) : this.documents.get(id);
  }

  grantsOf(userId: string): Map<Thing, Grant> {
    return upsert(this.grants, userId, () => new Map());
  }

  /** Returns the grant of a user on the resource itself, unless the grant has expired at `now` (epoch ms). */
  liveGrant(userId: string, resource: Thing, now: number): Grant | undefined {
    const grant = this.grantsOf(userId).get(resource);
    return grant && (grant.expiresAt === undefined || grant.expiresAt > now / 1000) ? grant : undefined;
  }

  contactsOf(resource: Thing): Set<string> {
    return upsert(this.contacts, resource, () => new Set());
  }

  deleteDocument(document: LivingDocument): void {
    this.documents.delete(document.id);
    this.#revokeAll(document);
  }

  /** Deletes a folder with all folders and documents in it. */
  deleteFolder(folder: LivingFolder): void {
    for (const document of [...this.documents.values()])
      if (chain(document.folder).includes(folder)) this.deleteDocument(document);
    for (const one of [...this.folders.values()].filter((other) => chain(other).includes(folder))) {
      this.folders.delete(one.id);
      this.#revokeAll(one);
    }
  }

  #revokeAll(resource: Thing): void {
    this.contacts.delete(resource);
    for (const userId of this.grants.keys()) this.#revoke(userId, resource);
  }

  #revoke(userId: string, resource: Thing): void {
    const lingering = upsert(this.lingering, userId, () => new Set<string>());
    for (const field of this.grantsOf(userId).get(resource)?.fields ?? []) lingering.add(field);
    this.grantsOf(userId).delete(resource);
  }

  /** Removes a user's grants on a resource and on everything in it. */
  removeUser(userId: string, resource: Thing): void {
    const isWithin = (other: Thing) => resource === this || withAncestors(other).includes(resource);
    for (const other of [...this.grantsOf(userId).keys()]) if (isWithin(other)) this.#revoke(userId, other);
    for (const [other, users] of this.contacts) if (isWithin(other)) users.delete(userId);
    if (resource === this) for (const users of this.groups.values()) users.delete(userId);
  }

  /**
   * Returns the expected answer of `permissions/get` for a user on the organization and the named folders and
   * documents.
   */
  permissions(
    userId: string,
    isKnown: boolean,
    now: number,
    asked: { readonly folders: readonly string[]; readonly documents: readonly string[] },
  ) {
    const grants = this.grantsOf(userId);
    const live = (resource: Thing) => this.liveGrant(userId, resource, now);
    const toEntry = ({ role, expiresAt }: Grant, accessType?: AccessType) => ({
      accessRole: role,
      ...(accessType && { accessType }),
      ...(expiresAt !== undefined && { expiresAt }),
    });
    const denied = (what: string, accessType?: AccessType) => ({
      error: `User does not have access to ${what}`,
      errorCode: 'permission_denied',
      ...(accessType && { accessType }),
    });
    const member = live(this);
    const entry = (what: string, resource: LivingFolder | LivingDocument, accessType: AccessType) => {
      const nearest = withAncestors(resource)
        .map(live)
        .find((grant) => grant !== undefined);
      if (nearest) return toEntry(nearest, accessType);
      if (accessType === 'public' && member) return { accessRole: member.role, accessType };
      if (accessType === 'organizationPrivate' && member) return toEntry(member, accessType);
      return accessType === 'public' && isKnown ? { accessRole: 'editor', accessType } : denied(what, accessType);
    };
    const missing = (what: string) => ({ error: `${what} does not exist`, errorCode: 'does_not_exist' });
    const fields = [...new Set([...grants.keys()].flatMap((resource) => live(resource)?.fields ?? []))].sort();
    return {
      folders: Object.fromEntries(
        asked.folders.map((id) => {
          const folder = this.folders.get(id);
          return [id, folder ? entry('folder', folder, typeOf(folder)) : missing('Folder')];
        }),
      ),
      documents: Object.fromEntries(
        asked.documents.map((id) => {
          const document = this.documents.get(id);
          return [id, document ? entry('document', document, typeOf(document)) : missing('Document')];
        }),
      ),
      organization: { [this.id]: member ? toEntry(member) : denied('organization') },
      ...(fields.length > 0 && { context: { accessFields: fields } }),
    };
  }
}

/** Returns a folder and its ancestors, nearest first. Returns an empty list without a folder. */
export function chain(folder: LivingFolder | undefined): LivingFolder[] {
  return folder ? [folder, ...chain(folder.parent)] : [];
}

/** Returns a resource and its ancestor folders, nearest first. */
export function withAncestors(resource: Thing): Thing[] {
  if (resource instanceof LivingOrganization) return [resource];
  return 'threads' in resource ? [resource, ...chain(resource.folder)] : chain(resource);
}

/** Returns the access type of a folder or document. A document in a folder has the access type of the folder. */
export function typeOf(resource: LivingFolder | LivingDocument): AccessType {
  if ('threads' in resource) return resource.folder ? typeOf(resource.folder) : resource.own;
  return resource.own ?? (resource.parent ? typeOf(resource.parent) : 'public');
}

function upsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  if (!map.has(key)) map.set(key, make());
  return map.get(key) as V;
}
