import { beforeAll, expect, test } from '@jest/globals';
import { purgeOrganizationStep } from '../../../lib/deletion/purgeOrganizations.ts';
import type { JobMessage } from '../../../lib/jobs/jobStore.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { itemsByKey, itemsOfOrganization } from '../../support/items.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { makeLargeOrganization, numbered } from '../../support/largeOrganization.ts';
import { asDocumentClient, type Command, type TableClient } from '../../support/leanClient.ts';
import { startQueues } from '../../support/queues.ts';

const OLD = { users: 2_000, documents: 500, folders: 20, contentEvery: 20, mark: 'old' };
const NEW = { users: 200, documents: 50, folders: 4, contentEvery: 10, mark: 'new' };
/** The duration of a job's lease, in milliseconds. */
const LEASE = 90_000;

const { engine, customer } = acmeWorld({ table: 'memory', isShared: true });
const queues = forAllTests(startQueues);
let client: TableClient;
beforeAll(() => {
  client = engine.lean;
});

const acme = { organizationId: 'acme' };
const user = numbered('user', 1);
const document = numbered('document', 1);

/**
 * Requests that read the organization. A view returns counts of items, their texts or a user's permissions. It returns
 * `gone` if the organization does not exist.
 */
const views: Readonly<Record<string, () => Promise<unknown>>> = {
  documents: async () =>
    readView('/v2/organizations/documents/get', acme, (documents) => [
      documents.length,
      ...new Set(documents.map(({ documentName }: any) => documentName)),
    ]),
  users: async () => readView('/v2/users/get', acme, (users) => users.length),
  folders: async () => readView('/v2/organizations/folders/get', acme, (folders) => folders.length),
  permissions: async () =>
    readView(
      '/v2/auth/permissions/get',
      { ...acme, userIds: [user], documentIds: [document], skipResourceExistenceValidation: true },
      (data) => [data[user].organization.acme.accessRole, data[user].documents[document].accessRole],
    ),
  threads: async () =>
    readView('/v2/commentannotations/get', { ...acme, documentId: numbered('document', 0) }, (threads) =>
      threads.map(({ comments }: any) => comments[0].commentText),
    ),
};

async function readView(path: string, data: object, show: (data: any) => unknown): Promise<unknown> {
  const { status, body } = await customer.call(path, data);
  if (body.error?.message === 'organizationId: the organization does not exist') return 'gone';
  // While the organization is empty, the requested document does not exist.
  if (status === 404) return 'no document';
  expect(status).toBe(200);
  return show(body.result.data);
}

type ReadState = Readonly<Record<string, unknown>>;
const whole = ({ users, documents, folders, mark }: typeof OLD): ReadState => ({
  documents: [documents, mark],
  users: Math.min(users, 1_000),
  folders,
  permissions: ['editor', 'editor'],
  threads: [mark],
});
const deletedState: ReadState = Object.fromEntries(Object.keys(views).map((name) => [name, 'gone']));
const empty: ReadState = {
  documents: [0],
  users: 0,
  folders: 0,
  permissions: [undefined, undefined],
  threads: 'no document',
};

async function readState(): Promise<ReadState> {
  return Object.fromEntries(
    await Promise.all(Object.entries(views).map(async ([name, view]) => [name, await view()] as const)),
  );
}

/**
 * Reads all views of the organization again and again. Each result must belong to a state that was allowed when its
 * request started or ended.
 */
class Readers {
  /** The states that reads may return from now on. */
  allowed: readonly ReadState[];
  #rounds = 0;
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(allowed: readonly ReadState[]) {
    this.allowed = allowed;
    this.#done = this.#read();
    // `stop` awaits the same promise, so it throws the error.
    this.#done.catch(() => undefined);
  }

  async #read(): Promise<void> {
    for (; !this.#stopped; this.#rounds++) {
      for (const [name, view] of Object.entries(views)) {
        const before = this.allowed;
        const value = await view();
        expect([...before, ...this.allowed].map((state) => state[name])).toContainEqual(value);
      }
    }
  }

  /** Waits for two rounds of reads. At least the second one starts after the call of this method. */
  async readTwoRounds(): Promise<void> {
    const until = this.#rounds + 2;
    while (this.#rounds < until) await Promise.race([this.#done, new Promise((resolve) => setTimeout(resolve, 1))]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }
}

/** Returns a table that executes this number of calls. All later calls fail, as if the function had been killed. */
function tableFailingAfter(calls: number): Table {
  let remainingCalls = calls;
  return new Table(
    asDocumentClient({
      send: (command: Command) => (remainingCalls-- > 0 ? client.send(command) : Promise.reject(new Error('killed'))),
    }),
    TABLE_NAME,
  );
}

test('a deleted organization of 2,000 users is hidden at once, and a new one with the same id stays', async () => {
  const old = await makeLargeOrganization(engine, client, customer, 'acme', OLD);
  expect(old.items.length).toBeGreaterThan(6_000);
  expect(await readState()).toEqual(whole(OLD));
  queues.clear();

  const readers = new Readers([whole(OLD)]);
  await readers.readTwoRounds();
  readers.allowed = [whole(OLD), deletedState];
  expect((await customer.ok('/v2/organizations/delete', { organizationIds: ['acme'] })).acme).toMatchObject({
    success: true,
    id: old.internalId,
  });
  readers.allowed = [deletedState];
  await readers.readTwoRounds();

  const message = queues.messagesOf('jobs')[0]!.body as JobMessage;
  let time = Date.now();
  let table = tableFailingAfter(0);
  const runner = new JobRunner(time, {
    steps: { purgeOrganization: (job) => purgeOrganizationStep(table, job, () => (time += 5)) },
  });
  /**
   * Runs the job, which is killed after this number of calls. Before that, the clock passes the lease of the previous
   * run.
   */
  const run = async (calls: number) => {
    runner.now = time += 2 * LEASE;
    table = tableFailingAfter(calls);
    await expect(runner.run(message)).rejects.toThrow('killed');
  };
  const countLeft = async () => itemsOfOrganization(await itemsByKey(engine, customer), old.internalId).length;
  for (const calls of [1, 50, 400]) await run(calls);

  // An organization with the same id is added during the purge. It must look empty, also while the purge continues.
  readers.allowed = [deletedState, empty];
  await customer.ok('/v2/organizations/add', { organizations: [acme] });
  readers.allowed = [empty];
  await readers.readTwoRounds();
  await run(400);
  await readers.readTwoRounds();
  await readers.stop();
  expect(await countLeft()).toBeLessThan(old.items.length * 0.9);

  // The new organization gets content with the same ids as the old content.
  const { internalId, items } = await makeLargeOrganization(engine, client, customer, 'acme', NEW);
  expect(internalId).not.toBe(old.internalId);
  const filled = await itemsByKey(engine, customer);
  const before = itemsOfOrganization(filled, internalId);
  expect(before.length).toBe(items.length);
  expect(itemsOfOrganization(filled, old.internalId).length).toBeGreaterThan(old.items.length * 0.3);

  const others = new Readers([whole(NEW)]);
  table = new Table(asDocumentClient(client), TABLE_NAME);
  runner.now = time += 2 * LEASE;
  await runner.finish(message);
  await others.readTwoRounds();
  await others.stop();

  const after = await itemsByKey(engine, customer);
  expect(itemsOfOrganization(after, old.internalId)).toEqual([]);
  expect(itemsOfOrganization(after, internalId)).toEqual(before);
  expect(
    JSON.stringify([...after.values()].filter(({ _t }) => !['Event', 'EventPayload', 'Job'].includes(_t))),
  ).not.toContain(old.internalId);
  expect(await readState()).toEqual(whole(NEW));
});
