/**
 * What organizations, folders, documents, users and groups are to those who ask, in a few lines: the specification's rules (4.1, 4.18, 4.20)
 * on plain objects, without anything that goes on in the background. Everything that is deleted is gone, and everything that is moved has moved.
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
  /** The ids of its threads. */
  readonly threads: Set<string>;
}

interface Given {
  role: AccessRole;
  readonly expiresAt: number | undefined;
  readonly fields: readonly string[];
}

/** Whatever users are given, known by itself: what is added again under the same id is another one. */
export type Thing = LivingOrganization | LivingFolder | LivingDocument;

/** What a request names. */
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
  /** By user, then by what it was given on. */
  readonly grants = new Map<string, Map<Thing, Given>>();
  readonly contacts = new Map<Thing, Set<string>>();
  /**
   * Access fields, by user, of what was given on things that are gone, or in a folder that the user was removed from: they can be in the user's
   * access context, which is read without looking for the things, until the jobs have ended.
   */
  readonly lingering = new Map<string, Set<string>>();

  constructor(id: string) {
    this.id = id;
  }

  /** The organization, folder or document that is named, undefined when there is none. */
  find({ type, id }: Named): Thing | undefined {
    return type === 'organization' ? this : type === 'folder' ? this.folders.get(id) : this.documents.get(id);
  }

  grantsOf(userId: string): Map<Thing, Given> {
    return upsert(this.grants, userId, () => new Map());
  }

  /** What a user was given on a thing itself, unless it has ended at `now` (epoch ms). */
  liveGrant(userId: string, thing: Thing, now: number): Given | undefined {
    const given = this.grantsOf(userId).get(thing);
    return given && (given.expiresAt === undefined || given.expiresAt > now / 1000) ? given : undefined;
  }

  contactsOf(thing: Thing): Set<string> {
    return upsert(this.contacts, thing, () => new Set());
  }

  deleteDocument(document: LivingDocument): void {
    this.documents.delete(document.id);
    this.#forget(document);
  }

  /** Deletes a folder with everything beneath it. */
  deleteFolder(folder: LivingFolder): void {
    for (const document of [...this.documents.values()])
      if (chain(document.folder).includes(folder)) this.deleteDocument(document);
    for (const one of [...this.folders.values()].filter((other) => chain(other).includes(folder))) {
      this.folders.delete(one.id);
      this.#forget(one);
    }
  }

  #forget(thing: Thing): void {
    this.contacts.delete(thing);
    for (const userId of this.grants.keys()) this.#take(userId, thing);
  }

  #take(userId: string, thing: Thing): void {
    const lingering = upsert(this.lingering, userId, () => new Set<string>());
    for (const field of this.grantsOf(userId).get(thing)?.fields ?? []) lingering.add(field);
    this.grantsOf(userId).delete(thing);
  }

  /** Takes from a user what it was given on a thing and on what lies in it (spec 4.18). */
  removeUser(userId: string, thing: Thing): void {
    const isWithin = (other: Thing) => thing === this || above(other).includes(thing);
    for (const other of [...this.grantsOf(userId).keys()]) if (isWithin(other)) this.#take(userId, other);
    for (const [other, users] of this.contacts) if (isWithin(other)) users.delete(userId);
    if (thing === this) for (const users of this.groups.values()) users.delete(userId);
  }

  /** What `permissions/get` says of a user on the organization and on the folders and documents under these ids, those that are not there included. */
  permissions(
    userId: string,
    isKnown: boolean,
    now: number,
    asked: { readonly folders: readonly string[]; readonly documents: readonly string[] },
  ) {
    const grants = this.grantsOf(userId);
    const live = (thing: Thing) => this.liveGrant(userId, thing, now);
    const shown = ({ role, expiresAt }: Given, accessType?: AccessType) => ({
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
    const entry = (what: string, thing: LivingFolder | LivingDocument, accessType: AccessType) => {
      const nearest = above(thing)
        .map(live)
        .find((given) => given !== undefined);
      if (nearest) return shown(nearest, accessType);
      if (accessType === 'public' && member) return { accessRole: member.role, accessType };
      if (accessType === 'organizationPrivate' && member) return shown(member, accessType);
      return accessType === 'public' && isKnown ? { accessRole: 'editor', accessType } : denied(what, accessType);
    };
    const missing = (what: string) => ({ error: `${what} does not exist`, errorCode: 'does_not_exist' });
    const fields = [...new Set([...grants.keys()].flatMap((thing) => live(thing)?.fields ?? []))].sort();
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
      organization: { [this.id]: member ? shown(member) : denied('organization') },
      ...(fields.length > 0 && { context: { accessFields: fields } }),
    };
  }
}

/** A folder and those that it lies in, from itself up; none for none. */
export function chain(folder: LivingFolder | undefined): LivingFolder[] {
  return folder ? [folder, ...chain(folder.parent)] : [];
}

/** A thing and the folders that it lies in, nearest first. */
export function above(thing: Thing): Thing[] {
  if (thing instanceof LivingOrganization) return [thing];
  return 'threads' in thing ? [thing, ...chain(thing.folder)] : chain(thing);
}

/** What a folder or document is open to: a document in a folder to what the folder is. */
export function typeOf(thing: LivingFolder | LivingDocument): AccessType {
  if ('threads' in thing) return thing.folder ? typeOf(thing.folder) : thing.own;
  return thing.own ?? (thing.parent ? typeOf(thing.parent) : 'public');
}

function upsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  if (!map.has(key)) map.set(key, make());
  return map.get(key) as V;
}
