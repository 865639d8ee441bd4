import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import { runsJobs } from '../../functions/workers/runJobs.ts';
import { DeletedThreadEntity } from '../../lib/comments/deletedThreads.ts';
import { ThreadCounterEntity } from '../../lib/comments/threads.ts';
import { InvolvementEntity } from '../../lib/content/involvements.ts';
import { AccessRemovalEntity } from '../../lib/directory/accessRemovals.ts';
import { OrganizationEntity } from '../../lib/directory/organizations.ts';
import { GrantEntity, UserEntity } from '../../lib/directory/users.ts';
import { EditorEntity } from '../../lib/editors/entities.ts';
import { InvitationEntity } from '../../lib/invitations/entities.ts';
import { JobEntity, type JobKindOn, JobStore, type StoredJob } from '../../lib/jobs/jobStore.ts';
import { runJob } from '../../lib/jobs/runJob.ts';
import { NotificationSettingsEntity } from '../../lib/notifications/notificationSettings.ts';
import { PresenceEntity } from '../../lib/presence/presences.ts';
import { entities, type EntityOwner } from '../../lib/table/entity.ts';
import { table } from './acmeWorld.ts';
import { itemsOf } from './content.ts';
import type { Customer } from './customer.ts';
import {
  accessTypeOf,
  folderWithAncestors,
  type ModelDocument,
  type ModelFolder,
  ModelOrganization,
  type ModelResource,
  type NamedResource,
} from './directoryModel.ts';
import type { Engine } from './engine.ts';
import { openChannel, recordKinds } from './fillOrganization.ts';
import { itemsByKey, itemsOfTenant } from './items.ts';
import { runAsJob } from './jobRunner.ts';
import type { Queues } from './queues.ts';
import { storedDocumentScope, storedOrganizationScope } from './storedScope.ts';
import { recordingMeasures, silentLog } from './workers.ts';

/** The ids that requests use. Their resources may exist or not. */
export const names = {
  organizations: ['acme', 'beta'],
  folders: ['fa', 'fb', 'fc', 'fd'],
  documents: ['da', 'db', 'dc'],
  users: ['ada', 'bob', 'cyd'],
  groups: ['group'],
} as const;

type Permissions = ReturnType<ModelOrganization['permissions']>;

export type RecordKind = keyof typeof recordKinds;

const typesOwnedBy = (...owners: EntityOwner[]) =>
  entities().flatMap(({ type, ownedBy }) => (owners.includes(ownedBy) ? [type] : []));
const contentTypes = new Set([...typesOwnedBy('document'), NotificationSettingsEntity.type, InvitationEntity.type]);
export const ownedTypes = typesOwnedBy('organization', 'folder', 'document', 'user');
/** The types of items that no time limit deletes. */
const lasting = new Set([...ownedTypes, OrganizationEntity.type, JobEntity.type]);

const PERMISSIONS = '/v2/auth/permissions/get';
const everything = {
  userIds: names.users,
  folderIds: names.folders,
  documentIds: names.documents,
  skipResourceExistenceValidation: true,
};
const quiet = {
  log: silentLog,
  measures: recordingMeasures(),
};
const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);

/**
 * Runs requests and jobs of a tenant with a simulated clock. Compares the answers with the model in
 * `directoryModel.ts`.
 */
export class DirectorySimulation {
  readonly organizations = new Map<string, ModelOrganization>();
  /** The ids of the users that exist in the tenant. */
  readonly existingUserIds = new Set<string>();
  /** The simulated time of handlers and jobs in epoch milliseconds. */
  now: number;
  /** The types of items that were stored at some time. */
  readonly storedTypes: Set<string>;
  readonly #erasedNames: string[] = [];
  /**
   * The ids of the jobs in the order of their first messages. The order of the ids does not show it for jobs of the
   * same second.
   */
  readonly #jobOrder: string[] = [];
  /** Folders from which jobs remove users. */
  readonly #closed: { readonly folder: ModelFolder; readonly jobIds: readonly string[] }[] = [];
  readonly #engine: Engine;
  readonly #queues: Queues;
  readonly #customer: Customer;
  readonly #store = new JobStore(table);
  readonly #jobs = runsJobs.open(process.env as never);

  constructor(engine: Engine, queues: Queues, customer: Customer, storedTypes: Set<string>, now: number) {
    this.storedTypes = storedTypes;
    this.#engine = engine;
    this.#queues = queues;
    this.#customer = customer;
    this.now = now;
  }

  /**
   * Sends a request. If it fails, returns the error status. Otherwise returns `done`, or `failed` if the answer says
   * that `item` failed.
   */
  async outcome(path: string, data: object, item?: string): Promise<string> {
    const { body } = await this.#customer.call(path, data);
    if (body.error) return body.error.status;
    return item === undefined || body.result.data[item].success ? 'done' : 'failed';
  }

  /** Sends a request. Returns its data, or its error status if it fails. */
  async answer(path: string, data: object): Promise<any> {
    const { body } = await this.#customer.call(path, data);
    return body.error?.status ?? body.result.data;
  }

  /** Runs `removal`, a request that removes users from a folder. The folder is closed until the jobs of the request have ended. */
  async closeFolder(folder: ModelFolder, removal: () => Promise<unknown>): Promise<void> {
    const before = new Set((await this.jobs()).map(({ jobId }) => jobId));
    await removal();
    const jobIds = (await this.jobs()).flatMap(({ jobId }) => (before.has(jobId) ? [] : [jobId]));
    this.#closed.push({ folder, jobIds });
  }

  /** Returns ABORTED if a move from one folder to another leads into or out of a closed folder. */
  async refusedMove(
    moved: ModelFolder | ModelDocument | undefined,
    from: ModelFolder | undefined,
    to: ModelFolder | undefined,
  ): Promise<'ABORTED' | undefined> {
    const isIn = (folder: ModelFolder | undefined, closed: ModelFolder) => folderWithAncestors(folder).includes(closed);
    const crossed = this.#closed.filter(
      ({ folder }) => moved && moved !== folder && isIn(from, folder) !== isIn(to, folder),
    );
    if (crossed.length === 0) return undefined;
    const running = new Set((await this.jobs()).map(({ jobId }) => jobId));
    return crossed.some(({ jobIds }) => jobIds.some((jobId) => running.has(jobId))) ? 'ABORTED' : undefined;
  }

  /** Returns the name of a user, which never occurs again after the user is erased. */
  #nameOf(userId: string): string {
    return `Name of ${userId}, ${this.#erasedNames.length}`;
  }

  /** Adds a record of each of these kinds. */
  async addRecords(
    org: ModelOrganization,
    document: ModelDocument,
    { kinds, ...people }: { kinds: readonly RecordKind[]; from: string; to: string },
  ): Promise<void> {
    const ids = { organizationId: org.id, documentId: document.id };
    const scope = await storedDocumentScope(this.#customer, ids);
    document.partitions ??= [DeletedThreadEntity, EditorEntity, PresenceEntity].map((entity) =>
      entity.partition(scope),
    );
    const n = `${document.id}-${(document.records += 1)}`;
    const profile = (userId: string) => ({ userId, name: this.#nameOf(userId), email: `${userId}@example.com` });
    let before = await this.#storedContent();
    for (const kind of kinds)
      for (const [path, data, removedWith, erasedWith] of recordKinds[kind]({
        ...{ ...ids, ...people, n, mark: 'text', profile },
      })) {
        const request = () => this.#customer.untyped(`/v2/${path}`, { ...ids, ...data });
        before = await this.addContent(org, document, request, removedWith, erasedWith, before);
      }
    if (kinds.includes('presence')) await this.addContent(org, document, () => openChannel(this.#customer, ids));
  }

  /**
   * Sends a request. The model then contains each item that the request stores, as content of `owner`. Returns the
   * stored content.
   */
  async addContent(
    org: ModelOrganization,
    owner: ModelResource,
    request: () => Promise<unknown>,
    removedWith: readonly string[] = [],
    erasedWith: readonly string[] = [],
    contentBefore?: Map<string, Record<string, any>>,
  ): Promise<Map<string, Record<string, any>>> {
    // The revocation of a user can be some milliseconds later than its request.
    this.now += 5;
    const before = contentBefore ?? (await this.#storedContent());
    await request();
    const scope = await storedOrganizationScope(this.#customer, { organizationId: org.id });
    const after = await this.#storedContent();
    for (const key of before.keys()) if (!after.has(key)) org.content.delete(key);
    for (const [key, item] of after) {
      // Jobs end presences.
      if (item._t === PresenceEntity.type || org.content.has(key) || isDeepStrictEqual(item, before.get(key))) continue;
      const isShared = item._t === ThreadCounterEntity.type;
      const about = names.users.filter((userId) => item.PK === InvolvementEntity.partition({ ...scope, userId }));
      org.content.set(key, {
        ...{ item, owner },
        removedWith: isShared ? [] : [...removedWith, ...about],
        erasedWith: isShared ? [] : [...removedWith, ...erasedWith, ...about],
      });
    }
    return after;
  }

  async #storedContent(): Promise<Map<string, Record<string, any>>> {
    const items = await itemsByKey(this.#engine, this.#customer);
    for (const { _t } of items.values()) this.storedTypes.add(_t);
    return new Map([...items].filter(([, { _t }]) => contentTypes.has(_t)));
  }

  /** Returns whether the user has an item in the organization, or a profile, which erasures empty and then delete. */
  async isStored(org: ModelOrganization, userId: string): Promise<boolean> {
    const tenant = this.#customer.apiKey;
    const user = { ...(await storedOrganizationScope(this.#customer, { organizationId: org.id })), userId };
    const partitions = [GrantEntity.partition(user), UserEntity.partition({ tenant, userId })];
    const items = await itemsOfTenant(this.#engine, tenant);
    return items.some(({ PK, _t }) => partitions.includes(PK) && _t !== AccessRemovalEntity.type);
  }

  /** Erases a user from all organizations of the model. */
  eraseUser(userId: string): void {
    for (const org of this.organizations.values()) org.eraseUser(userId);
    this.existingUserIds.delete(userId);
    for (const each of names.users) if (each === userId) this.#erasedNames.push(this.#nameOf(userId));
    this.now += 5;
  }

  /**
   * Expects that the table contains the content of the model. After the jobs have ended, it must contain nothing else
   * and no name of an erased user.
   */
  async expectContent(isFinal: boolean): Promise<void> {
    const stored = await this.#storedContent();
    const organizations = [...this.organizations.values()];
    const expected = new Set(organizations.flatMap(({ content }) => [...content.keys()]));
    const partitions = organizations.flatMap(({ documents }) =>
      [...documents.values()].flatMap((document) => document.partitions ?? []),
    );
    const unexpected = [...stored].filter(([key, { PK }]) => !expected.has(key) && !partitions.includes(PK));
    expect({
      missing: [...expected].filter((key) => !stored.has(key)),
      unexpected: isFinal ? unexpected.map(([key]) => key) : [],
    }).toEqual({ missing: [], unexpected: [] });
    const text = isFinal && this.#erasedNames.length > 0 ? JSON.stringify([...stored.values()]) : '';
    expect(this.#erasedNames.filter((name) => text.includes(name))).toEqual([]);
  }

  /** Returns the jobs that have not ended, oldest first. */
  async jobs(): Promise<StoredJob[]> {
    const { apiKey: tenant } = this.#customer;
    const jobIds = (await itemsOf(this.#engine, this.#customer, JobEntity.type)).map(({ jobId }) => jobId as string);
    for (const { body } of this.#queues.messagesOf('jobs'))
      if (!this.#jobOrder.includes(body.jobId)) this.#jobOrder.push(body.jobId);
    this.#queues.clear();
    jobIds.sort((a, b) => this.#jobOrder.indexOf(a) - this.#jobOrder.indexOf(b));
    const jobs = await Promise.all(jobIds.map((jobId) => this.#store.get({ tenant, jobId })));
    return jobs.filter((job) => job !== undefined);
  }

  /** Runs one step of a job. With `crashes`, the worker crashes before it saves the progress. */
  async runStep({ tenant, jobId }: StoredJob, crashes: boolean): Promise<void> {
    const job = await this.#store.get({ tenant, jobId });
    if (!job) return;
    const clock = () => this.now;
    await runAsJob(async () => {
      if (crashes) await this.#jobs.steps[job.kind as JobKindOn<'jobs'>](job, clock, quiet);
      else await runJob(this.#jobs, { message: { tenant, jobId }, clock, deadline: 0, ...quiet });
    });
  }

  /** Runs all jobs to their ends. Expects after each run that the permissions equal those of the model. */
  async finish(): Promise<void> {
    for (let round = 0; ; round++) {
      const jobs = await this.jobs();
      if (jobs.length === 0) {
        for (const { revokedFields, removedContent } of this.organizations.values()) {
          revokedFields.clear();
          removedContent.length = 0;
        }
        return this.expectContent(true);
      }
      if (round === 20) throw new Error(`These jobs do not end: ${jobs.map(({ kind }) => kind).join()}`);
      for (const { tenant, jobId } of jobs) {
        const call = { message: { tenant, jobId }, clock: () => this.now, deadline: Infinity, ...quiet };
        await runAsJob(() => runJob(this.#jobs, call));
        await this.expectPermissions();
      }
      // Longer than every lease of a job and every pause between steps.
      this.now += 100_000;
    }
  }

  /** Expects that the permissions of all users on all resources equal those of the model. */
  async expectPermissions(): Promise<void> {
    for (const [organizationId, org] of this.organizations) {
      const answer = await this.answer(PERMISSIONS, { organizationId, ...everything });
      for (const userId of names.users) {
        const expected = org.permissions(userId, this.existingUserIds.has(userId), this.now, names);
        expect([userId, this.#withoutRevokedFields(org, userId, answer[userId], expected)]).toEqual([userId, expected]);
      }
    }
  }

  /** Returns an answer without the access fields of revoked grants, because the answer may contain them or not. */
  #withoutRevokedFields(
    org: ModelOrganization,
    userId: string,
    answer: Permissions,
    { context }: Permissions,
  ): Permissions {
    const { context: responseContext, ...others } = answer;
    const fields = responseContext?.accessFields.filter(
      (field) => context?.accessFields.includes(field) || !org.revokedFields.get(userId)?.has(field),
    );
    return { ...others, ...(fields?.length && { context: { accessFields: fields } }) };
  }

  /** Expects that every listing equals the one of the model. */
  async expectListings(): Promise<void> {
    await this.expectContent(false);
    const existing = [...this.organizations.values()].sort(byId);
    expect(await this.answer('/v2/organizations/get', {})).toEqual(
      existing.map(({ id, disabled }) => ({ id, disabled })),
    );
    for (const organizationId of names.organizations) {
      if (!this.organizations.has(organizationId))
        expect(await this.answer(PERMISSIONS, { organizationId, ...everything })).toBe('INVALID_ARGUMENT');
    }
    for (const org of existing) {
      await this.#expectDocuments(org);
      await this.#expectFolders(org);
      await this.#expectUsers(org);
    }
  }

  async #expectDocuments(org: ModelOrganization): Promise<void> {
    const scope = { organizationId: org.id };
    const documents = [...org.documents.values()].sort(byId);
    const toResponse = (document: ModelDocument) => ({
      id: document.id,
      disabled: document.disabled,
      accessType: accessTypeOf(document),
      ...(document.folder && { folderId: document.folder.id }),
    });
    expect(await this.answer('/v2/organizations/documents/get', scope)).toEqual(documents.map(toResponse));
    expect(await this.answer('/v2/organizations/documents/get', { ...scope, documentIds: names.documents })).toEqual(
      documents.map(toResponse),
    );
    for (const folderId of names.folders) {
      const folder = org.folders.get(folderId);
      expect(await this.answer('/v2/organizations/documents/get', { ...scope, folderId })).toEqual(
        folder ? documents.filter((document) => document.folder === folder).map(toResponse) : 'NOT_FOUND',
      );
    }
    for (const some of [documents, ...documents.map((document) => [document])]) {
      const within = some === documents ? scope : { ...scope, documentId: some[0]!.id };
      const threads = (await this.answer('/v2/commentannotations/get', within)).map(
        ({ annotationId }: any) => annotationId,
      );
      expect(threads.sort()).toEqual(org.threadsOf(some, threads));
    }
  }

  async #expectFolders(org: ModelOrganization): Promise<void> {
    const subFoldersOf = (parent: ModelFolder | undefined): object[] =>
      [...org.folders.values()]
        .filter((child) => child.parent === parent)
        .sort(byId)
        .map((child) => ({
          folderId: child.id,
          parentFolderId: parent?.id ?? 'root',
          ancestors: [
            'root',
            ...folderWithAncestors(parent)
              .map(({ id }) => id)
              .reverse(),
          ],
          accessType: accessTypeOf(child),
          inheritAccessFromParent: child.ownAccessType === undefined,
          subFolders: subFoldersOf(child),
        }));
    expect(
      await this.answer('/v2/organizations/folders/get', { organizationId: org.id, maxDepth: names.folders.length }),
    ).toMatchObject(subFoldersOf(undefined));
  }

  async #expectUsers(org: ModelOrganization): Promise<void> {
    const scope = { organizationId: org.id };
    const lists: [object, ModelResource][] = [[scope, org]];
    for (const folder of org.folders.values()) lists.push([{ ...scope, folderId: folder.id }, folder]);
    for (const document of org.documents.values()) lists.push([{ ...scope, documentId: document.id }, document]);
    for (const [data, resource] of lists) {
      expect((await this.answer('/v2/users/get', data)).map(({ userId }: any) => userId)).toEqual(
        [...org.contactsOf(resource)].sort(),
      );
    }
    const groups = await this.answer('/v2/organizations/usergroups/get', { ...scope, includeUsers: true });
    expect(groups.map(({ groupId, users }: any) => [groupId, users.map(({ userId }: any) => userId)])).toEqual(
      [...org.groups].map(([groupId, members]) => [groupId, [...members].sort()]),
    );
  }

  /** Deletes the organizations and runs their jobs. Expects that then only the tenant's users remain. */
  async expectNothingLeft(): Promise<void> {
    for (const organizationId of names.organizations)
      await this.outcome('/v2/organizations/delete', { organizationIds: [organizationId] });
    this.organizations.clear();
    await this.finish();
    const remaining = (await itemsOfTenant(this.#engine, this.#customer.apiKey)).filter(({ _t }) => lasting.has(_t));
    expect(remaining.filter(({ _t, revocations = [] }) => _t !== 'User' || revocations.length > 0)).toEqual([]);
    expect(remaining.map(({ userId }) => userId).sort()).toEqual([...this.existingUserIds].sort());
  }
}

/** Returns the fields by which a permission request names a resource. */
export function resourceOf({ type, id }: NamedResource, organizationId: string): object {
  return type === 'organization' ? { type, id: organizationId } : { type, id, organizationId };
}

/** Returns the fields by which a request about users names its scope. */
export function scopeOf({ type, id }: NamedResource): object {
  return type === 'organization' ? {} : { [`${type}Id`]: id };
}
