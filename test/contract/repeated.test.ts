import { beforeAll, describe, expect, test } from '@jest/globals';
import { takesIdempotencyKey } from '../../lib/http/capabilities.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { startEngine } from '../support/engine.ts';
import { endpoints, examplePaths, ExampleRun } from '../support/examples.ts';
import { everyItem } from '../support/items.ts';
import type { Headers, Response } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { expectDocumented } from './contract.ts';

type Counts = Record<string, number>;

interface Again {
  /** The HTTP status of the second answer, if it is an error. */
  readonly status?: number;
  /** The number of items that each further call adds, by type. */
  readonly adds?: Counts;
  /** The types of the items that the second call changes. Times, revisions and traces of writers do not count. */
  readonly changes?: readonly string[];
  /** What a call with an Idempotency-Key writes in addition. */
  readonly keyed?: Counts;
}

/** The endpoints that do not answer the second call like the first one, or that write again. */
const others: Readonly<Record<string, Again>> = {
  '/v2/workspace/create': {
    adds: { Workspace: 1, ApiKey: 1, WorkspaceApiKey: 1, AuthToken: 1 },
    changes: ['OwnerEmail'],
  },
  '/v2/workspace/email/send-login-link': { adds: { LoginLink: 1 } },
  '/v2/workspace/apikey/create': {
    adds: { ApiKey: 1, WorkspaceApiKey: 1, AuthToken: 1, AllowedDomains: 1, EmailConfig: 1 },
  },
  '/v2/workspace/authtoken/reset': { changes: ['ApiKey'] },
  // Secrets are sealed again.
  '/v2/workspace/chatconfig/update': { changes: ['ChatConfig'] },
  '/v2/workspace/permissionproviderconfig/update': { changes: ['PermissionProviderConfig'] },
  '/v2/workspace/apikeyconfig/update': { changes: ['ApiKeyConfig'] },
  '/v2/workspace/advancedwebhook/endpoints/create': { status: 409 },
  '/v2/workspace/advancedwebhook/endpoints/secret/rotate': { status: 400 },
  '/v2/workspace/advancedwebhook/endpoints/test': { adds: { Event: 1, FirstAttempts: 1 } },
  '/v2/workspace/advancedwebhook/messages/resend': { changes: ['Delivery'] },
  '/v2/workspace/advancedwebhook/endpoints/delete': { status: 404 },
  '/v2/auth/permissions/remove': { changes: ['AccessRemoval'] },
  // The thread that exists has taken a number.
  '/v2/commentannotations/add': { changes: ['ThreadCounter'] },
  '/v2/commentannotations/comments/add': {
    adds: { Comment: 1, Event: 1, Involvement: 1 },
    changes: ['Thread'],
    keyed: { CommentAddition: 1 },
  },
  '/v2/crdt/add': { status: 409 },
  '/v2/crdt/versions/add': { adds: { EditorUpdate: 1, EditorVersion: 1 } },
  // The only version goes, and with it the parts that versions share.
  '/v2/crdt/versions/delete': { keyed: { EditorVersionPart: -1 } },
  '/v2/agents/create': { adds: { Agent: 1, AgentVersion: 1 }, changes: ['AgentCount'] },
  '/v2/agents/version/update': { adds: { AgentVersion: 1 }, changes: ['Agent'] },
  '/v2/agents/versions/restore': { adds: { AgentVersion: -1 }, changes: ['Agent'] },
  '/v2/agents/groups/create': { adds: { AgentGroup: 1 }, changes: ['AgentCount'] },
  '/v2/agents/groups/delete': { status: 404 },
  '/v2/users/delete': { adds: { Job: 1 }, changes: ['AccessRemoval', 'User'] },
  '/v2/users/data/delete': { adds: { Erasure: 1, Job: 1 }, changes: ['AccessRemoval', 'User'] },
  '/v2/organizations/folders/delete': { status: 404 },
};

const KEY = 'the-same-key';
const PARALLEL = 4;
const RESET = '/v2/workspace/authtoken/reset';
/** The reads whose answers have ids for later examples. */
const reads = ['/v2/workspace/requested/domains/get'];
const writes = examplePaths.filter((path) => endpoints.get(path)!.kind === 'write');

interface Outcome {
  readonly answers: readonly Response[];
  /** The answer to one more call. */
  readonly last: Response;
  /** How many items the first calls added, by type. */
  readonly added: Counts;
  /** How many items the last call added, by type. */
  readonly addedLast: Counts;
  /** The types of items that the last call changed. */
  readonly changedLast: readonly string[];
}

/** Calls all endpoints with their examples. Calls each that writes `count` times in parallel, and once more. */
async function walk(engine: Parameters<typeof everyItem>[0], count: number, headers: Headers = {}) {
  const run = new ExampleRun(`${count}-${Object.keys(headers).length}@example.com`);
  const outcomes = new Map<string, Outcome>();
  for (const path of examplePaths.filter((each) => writes.includes(each) || reads.includes(each))) {
    const data = await run.prepare(path);
    const send = () => run.customer.call(path, data, takesIdempotencyKey(endpoints.get(path)!) ? headers : {});
    if (reads.includes(path)) {
      await run.record(path, (await send()).body);
      continue;
    }
    const before = await snapshot(engine);
    const answers = await Promise.all(times(count, send));
    const after = await snapshot(engine);
    const replaced = answers.find(({ status }) => status === 200);
    if (!replaced) throw new Error(`${path} failed: ${JSON.stringify(answers[0]!.body)}`);
    if (path === RESET) await run.record(path, replaced.body);
    const last = await send();
    const end = await snapshot(engine);
    outcomes.set(path, {
      answers,
      last,
      added: difference(before, after),
      addedLast: difference(after, end),
      changedLast: changedTypes(after, end),
    });
    await run.record(path, (path === RESET && last.status === 200 ? last : replaced).body);
  }
  return outcomes;
}

type Snapshot = ReadonlyMap<string, { readonly type: string; readonly text: string }>;

/** Returns whether items of each type were added or removed. How many go depends on how many earlier calls added. */
const signs = (counts: Counts) =>
  Object.fromEntries(Object.entries(counts).map(([type, count]) => [type, Math.max(count, -1)]));

/** Returns the stored items by key, without those that any call may add. */
async function snapshot(engine: Parameters<typeof everyItem>[0]): Promise<Snapshot> {
  const items = await everyItem(engine);
  return new Map(
    items
      .filter(({ _t }) => !['RateLimit', 'Idempotency'].includes(_t))
      .map((item) => [`${item.PK} ${item.SK}`, { type: item._t, text: textOf(item) }]),
  );
}

/** Returns an item as text, without times and without what tells its writes apart. */
function textOf(item: Record<string, unknown>): string {
  return JSON.stringify(item, (key, value: unknown) => {
    if (['_r', '_w', 'ttl', 'isVisibleChange'].includes(key)) return undefined;
    if (typeof value === 'number' && value > 1e9) return 'time';
    return typeof value === 'string' ? value.replace(/\d{4}-\d\d-\d\dT[\d:.]+|\d{10,}/g, 'time') : value;
  });
}

function difference(from: Snapshot, to: Snapshot): Counts {
  const counts: Counts = {};
  for (const [items, sign] of [
    [from, -1],
    [to, 1],
  ] as const)
    for (const { type } of items.values()) counts[type] = (counts[type] ?? 0) + sign;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

function changedTypes(from: Snapshot, to: Snapshot): string[] {
  const changed = [...to].filter(([key, { text }]) => from.has(key) && from.get(key)!.text !== text);
  return [...new Set(changed.map(([, { type }]) => type))].sort();
}

const engine = forAllTests(() => startEngine({ table: 'memory' }));
let once: Map<string, Outcome>;
let parallel: Map<string, Outcome>;
let keyed: Map<string, Outcome>;
beforeAll(async () => {
  once = await walk(engine, 1);
  parallel = await walk(engine, PARALLEL);
  keyed = await walk(engine, PARALLEL, { 'idempotency-key': KEY });
});

describe('a repeated call', () => {
  test.each(writes)('of %s in sequence answers as documented, and writes nothing twice', (path) => {
    const { answers, last, addedLast, changedLast } = once.get(path)!;
    const { status = 200, adds = {}, changes = [] } = others[path] ?? {};
    for (const answer of [...answers, last]) expectDocumented(endpoints.get(path)!, answer);
    expect([answers[0]!.status, last.status, addedLast, changedLast]).toEqual([200, status, adds, changes]);
  });

  test.each(writes)('of %s in parallel leads to the state of one order', (path) => {
    const { answers, last, added, addedLast, changedLast } = parallel.get(path)!;
    const { status = 200, adds = {}, changes = [] } = others[path] ?? {};
    for (const answer of [...answers, last]) expectDocumented(endpoints.get(path)!, answer);
    const done = answers.filter((answer) => answer.status === 200).length;
    const expected = { ...once.get(path)!.added };
    for (const [type, count] of Object.entries(adds)) expected[type] = (expected[type] ?? 0) + count * (done - 1);
    expect([done > 0, Math.max(...answers.map((answer) => answer.status)) < 500]).toEqual([true, true]);
    expect([signs(added), last.status, addedLast, changedLast]).toEqual([signs(expected), status, adds, changes]);
  });

  test.each(writes.filter((path) => takesIdempotencyKey(endpoints.get(path)!)))(
    'of %s with the same Idempotency-Key runs once',
    (path) => {
      const { answers, last, added, addedLast, changedLast } = keyed.get(path)!;
      const isReplayed = ({ headers }: Response) => headers['idempotency-replayed'] === 'true';
      const [ran, ...more] = answers.filter((answer) => answer.status === 200 && !isReplayed(answer));
      expect([ran?.status, more]).toEqual([200, []]);
      for (const answer of answers.filter((other) => other !== ran)) {
        if (answer.status === 409) expect(answer.body.error.status).toBe('ABORTED');
        else expect([isReplayed(answer), answer.body]).toEqual([true, ran!.body]);
      }
      expect([isReplayed(last), last.body]).toEqual([true, ran!.body]);
      const expected = { ...once.get(path)!.added, ...others[path]?.keyed };
      expect([signs(added), addedLast, changedLast]).toEqual([signs(expected), {}, []]);
    },
  );
});
