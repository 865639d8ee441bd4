import { expect } from '@jest/globals';
import { runsJobs } from '../../functions/workers/runJobs.ts';
import { AccessRemovalEntity } from '../../lib/directory/accessRemovals.ts';
import { JobEntity, type JobKindOn, JobStore, type StoredJob } from '../../lib/jobs/jobStore.ts';
import { runJob } from '../../lib/jobs/runJob.ts';
import { silentLog } from '../support/workers.ts';
import { table } from './acmeWorld.ts';
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
import { everyItem, itemsOfTenant } from './items.ts';
import { runAsJob } from './jobRunner.ts';
import type { Queues } from './queues.ts';
import { recordingMeasures } from './workers.ts';

/** The ids that requests use. Their resources may exist or not. */
export const names = {
  organizations: ['acme', 'beta'],
  folders: ['fa', 'fb', 'fc', 'fd'],
  documents: ['da', 'db', 'dc'],
  users: ['ada', 'bob', 'cyd'],
  groups: ['group'],
} as const;

type Permissions = ReturnType<ModelOrganization['permissions']>;

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
  #threads = 0;
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

  constructor(engine: Engine, queues: Queues, customer: Customer, now: number) {
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

  newThread(): string {
    return `thread-${(this.#threads += 1)}`;
  }

  /** Returns the jobs that have not ended, oldest first. */
  async jobs(): Promise<StoredJob[]> {
    const { apiKey: tenant } = this.#customer;
    const jobIds = (await everyItem(this.#engine)).flatMap(({ _t, jobId, PK }) =>
      _t === JobEntity.type && PK === JobEntity.partition({ tenant, jobId }) ? [jobId as string] : [],
    );
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
        for (const { revokedFields } of this.organizations.values()) revokedFields.clear();
        return;
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
    const threads = await this.answer('/v2/commentannotations/get', scope);
    expect(threads.map(({ annotationId }: any) => annotationId).sort()).toEqual(
      documents.flatMap((document) => [...document.threads]).sort(),
    );
    for (const { id: documentId, threads: own } of documents) {
      expect(
        (await this.answer('/v2/commentannotations/get', { ...scope, documentId }))
          .map(({ annotationId }: any) => annotationId)
          .sort(),
      ).toEqual([...own].sort());
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
    // Records of removed access may remain. DynamoDB deletes each when all user tokens from before the removal have
    // expired.
    const remaining = (await itemsOfTenant(this.#engine, this.#customer.apiKey)).filter(
      ({ _t }) => _t !== AccessRemovalEntity.type,
    );
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
