import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { deleteItem, everyItem, putItem } from '../../support/items.ts';
import { startQueues } from '../../support/queues.ts';
import { eventOf, type Headers, post, type Response, send } from '../../support/requests.ts';
import { endpoints } from '../cases.ts';
import { undocumented } from '../contract.ts';
import { functionOf, type Probe, rows } from './probes.ts';
import { type Attacker, type AttackWorld, canariesIn, createWorld, seesScope } from './world.ts';

/** `npm run robustness` sends all probes, and chooses the ones of the large matrix at random. `npm test` sends a few of each row. */
const isFull = process.env.ROBUSTNESS_RUNS !== undefined;
const SEED = isFull ? Math.floor(Math.random() * 2 ** 31) : 20_260_102;
/** Any slower answer is a fault. */
const MAX_MILLISECONDS = 10_000;
/** Items that count calls. Every call may write them. */
const counters = new Set(['RateBucket', 'RateLimit', 'Idempotency']);

const { engine } = acmeWorld({ table: 'memory', isShared: true });
const queues = forAllTests(startQueues);
const byPath = new Map(endpoints.map((endpoint) => [endpoint.path as string, endpoint]));

let world: AttackWorld;
let sent = 0;
let accepted = 0;
beforeAll(async () => {
  world = await createWorld(queues);
});
afterAll(() => console.log(`${sent} probes, seed ${SEED}; ${accepted} were accepted`));

type Item = Record<string, any>;
type Change = { readonly before?: Item; readonly after?: Item };

async function itemsNow(): Promise<Map<string, Item>> {
  const items = (await everyItem(engine)).filter(({ _t }) => !counters.has(_t));
  return new Map(items.map((item) => [`${item.PK}\n${item.SK}`, item]));
}

let stored: Map<string, Item> | undefined;

/** Returns what changed in the table since the last call, and undoes it, so that each probe meets the same world. */
async function undoChanges(): Promise<Change[]> {
  const before = stored!;
  const now = await itemsNow();
  // The table replaces an item that it changes, so an unchanged item is the same object.
  const written = [...now].filter(([key, item]) => before.get(key) !== item);
  const changes = written.map(([key, after]) => ({ before: before.get(key), after }) as Change);
  for (const [key, item] of before) if (!now.has(key)) changes.push({ before: item });
  for (const change of changes)
    await (change.before ? putItem(engine, change.before) : deleteItem(engine, change.after!));
  if (changes.length > 0) stored = await itemsNow();
  return changes;
}

/** Returns what the attacker must not see in a text, unless the request contains it. */
function leaksIn(text: string, as: Attacker, request: string): string[] {
  const canaries = canariesIn(text).flatMap(({ token, scope }) =>
    seesScope(world, as, scope) || (as.tenant === 'foreign' && world.sharedIds.has(token)) ? [] : [token],
  );
  const others = [...world.otherSecrets].flatMap(([secret, scope]) =>
    text.includes(secret) && !seesScope(world, as, scope) ? [secret] : [],
  );
  return [...canaries, ...others].filter((secret) => !request.includes(secret));
}

/**
 * Returns whether an attacker must not make a change: in another tenant, of content that the attacker does not see, or in
 * the name of another user.
 */
function isForbidden({ before, after }: Change, as: Attacker): boolean {
  const tenant = as.tenant === 'own' ? world.own.apiKey : world.foreign.apiKey;
  if (!(before ?? after)!.PK.startsWith(`T#${tenant}#`)) return true;
  // A visible thread also counts the users of its hidden comments.
  const hidden = before?._t === 'Thread' ? before.annotationId : JSON.stringify(before);
  if (before) return leaksIn(hidden, as, '').length > 0 || isLossOfOthers(before, after, as);
  const { from, actionUser } = after!;
  return [from, actionUser].some((actor) => actor?.userId !== undefined && actor.userId !== as.userId);
}

const failedItems = (data: unknown) =>
  typeof data === 'object' && data !== null ? Object.values(data).filter((item: any) => item?.success === false) : [];

/** Returns whether another user lost a comment, its text, a thread or a reaction. */
function isLossOfOthers(before: Item, after: Item | undefined, as: Attacker): boolean {
  const authors: Item[] = before.from ? [before.from] : (before.fromUsers ?? []).map(({ from }: Item) => from);
  if (authors.length === 0 || authors.some(({ userId }) => userId === as.userId)) return false;
  return after?.commentText !== before.commentText || after?.commentHtml !== before.commentHtml || after === undefined;
}

/** Returns what is wrong with the answer to a probe, and with the changes of the table. */
function faultsOf(
  { as, path, expects, ...probe }: Probe,
  request: string,
  answer: Response,
  changes: Change[],
): string[] {
  const endpoint = byPath.get(path)!;
  const { status, body, headers } = answer;
  const faults = undocumented(endpoint, answer);
  if (status >= 500) faults.push(`answered ${status}`);
  const leaks = leaksIn(JSON.stringify([body, headers]), as, request);
  if (leaks.length > 0) faults.push(`leaked ${leaks.join(', ')}`);
  const isRefused = status !== 200;
  const changed = changes.filter((change) => isRefused || endpoint.kind === 'read' || isForbidden(change, as));
  if (changed.length > 0)
    faults.push(
      `changed ${changed.map(({ before, after }) => `${(before ?? after)!._t} ${(before ?? after)!.PK}`).join(', ')}`,
    );
  const isRight = (probe.statuses ?? ['PERMISSION_DENIED']).includes(body.error?.status);
  if (expects === 'refusal' && !(isRight && (probe.message?.test(body.error.message) ?? true)))
    faults.push('was not refused for this reason');
  if (expects === 'success' && (isRefused || failedItems(body.result?.data).length > 0)) faults.push('did not succeed');
  if (probe.isNew && headers['idempotency-replayed'] !== undefined) faults.push("got another caller's answer");
  return faults;
}

async function sendProbe({ as, path, data, headers, body }: Probe): Promise<[request: string, answer: Response]> {
  const request = body ?? JSON.stringify({ data });
  return [request, await send(handlerOf(path), eventOf(request, { ...as.headers, ...headers }))];
}

/** Sends a probe. Returns a description if it broke something. */
async function attack(probe: Probe): Promise<string[]> {
  stored ??= await itemsNow();
  const from = performance.now();
  const [request, answer] = await sendProbe(probe);
  const milliseconds = performance.now() - from;
  sent++;
  if (answer.status === 200) accepted++;
  const faults = faultsOf(probe, request, answer, await undoChanges());
  if (milliseconds >= MAX_MILLISECONDS) faults.push(`took ${milliseconds} ms`);
  if (probe.twin) {
    const [, other] = await sendProbe({ ...probe, data: probe.twin.data });
    await undoChanges();
    const texts = [answer, other].map(({ status, body }, index) =>
      JSON.stringify([status, body]).replaceAll(String(index === 0 ? probe.twin!.hidden : probe.twin!.unknown), '?'),
    );
    if (texts[0] !== texts[1]) faults.push(`tells that an id exists: ${texts[1]}`);
  }
  if (faults.length === 0) return [];
  const { as, path } = probe;
  const sentText = request.length > 2_000 ? `${request.slice(0, 2_000)}…` : request;
  const answered = JSON.stringify(answer.body).slice(0, 2_000);
  return [
    `${as.name} sent ${path} ${sentText} ${JSON.stringify(probe.headers ?? {})}\n  got ${answer.status} ${answered}\n  ${faults.join('\n  ')}`,
  ];
}

/** Returns at most `count` groups, chosen by the seed: first one of each part, then others. */
function choose(groups: readonly Probe[][], count: number): Probe[][] {
  const whole = { minLength: groups.length, maxLength: groups.length };
  const [shuffled] = fc.sample(fc.shuffledSubarray([...groups], whole), { seed: SEED, numRuns: 1 });
  const seen = new Set<string>();
  const [firsts, others] = [[] as Probe[][], [] as Probe[][]];
  for (const group of shuffled!) {
    const part = group[0]!.part ?? functionOf(group[0]!.path);
    (seen.has(part) ? others : firsts).push(group);
    seen.add(part);
  }
  return [...firsts, ...others].slice(0, count);
}

describe('attacks with user tokens', () => {
  // Without this, the probes would find no leak in a world without hidden records.
  test('meet hidden records that other callers see', async () => {
    const nda = { organizationId: 'acme', documentId: 'nda' };
    const scopesIn = async (headers: Headers, path: string, data: object) => {
      const { status, body } = await post(handlerOf(path), headers, data);
      expect([path, status]).toEqual([path, 200]);
      const scopes = new Set(canariesIn(JSON.stringify(body)).map(({ scope }) => scope));
      return ['members', 'region', 'restricted'].filter((scope) => scopes.has(scope));
    };
    const of = (name: string) => world.attackers.find((attacker) => attacker.name === name)!.headers;
    const server = world.own.headers;
    const threads = '/v2/commentannotations/get';
    expect(await scopesIn(of('viewer'), threads, nda)).toEqual([]);
    expect(await scopesIn(of('insider'), threads, nda)).toEqual(['members']);
    expect(await scopesIn(of('eu'), threads, nda)).toEqual(['region']);
    for (const [path, data] of [
      [threads, nda],
      ['/v2/notifications/get', nda],
      ['/v2/activities/get', nda],
    ] as const)
      expect(await scopesIn(server, path, data)).toEqual(['members', 'region', 'restricted']);
    for (const ids of Object.values(world.hidden)) expect(ids.length).toBeGreaterThan(0);
  });

  test.each(rows)('$title', async ({ groups, slice, full }) => {
    const chosen = choose(await groups(world), isFull ? full : slice);
    const broken: string[] = [];
    // The probes of a group need each other in this order.
    for (const probe of chosen.flat()) broken.push(...(await attack(probe)));
    if (broken.length > 0) throw new Error(`${broken.length} broken\n\n${broken.slice(0, 20).join('\n\n')}`);
    expect(chosen.length).toBeGreaterThan(0);
  });
});
