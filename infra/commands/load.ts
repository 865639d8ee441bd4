/** `npm run load`: sends a bounded load, and prints latencies and errors by endpoint, and the cost of all calls. */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Methods, ServiceError } from '../../lib/client/index.ts';
import { slicesOf } from '../../lib/shared/collections.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import { registeredEndpoints } from '../build/registry.ts';
import { MILLION } from '../cost/prices.ts';
import { apiCredentials } from './apiCredentials.ts';
import { callMix, costsOfMix, type MixedPath } from './load/mix.ts';
import { type LoadOptions, loadOptions, USAGE } from './load/options.ts';
import { type CallOutcome, documentsFor, inProportion, plannedStarts, reportsOf } from './load/rules.ts';
import { runCommand } from './operator.ts';

const MAX_UNANSWERED_CALLS = 2_000;
const TIMEOUT_MILLISECONDS = 30_000;
const PARALLEL_CREATIONS = 8;
const DOCUMENTS_PER_CALL = 100;

interface LoadData {
  readonly organizationId: string;
  /** Each document has one comment thread. */
  readonly documents: readonly { readonly documentId: string; readonly annotationId: string }[];
}

type SendCall = (client: Methods, organizationId: string, at: LoadData['documents'][number]) => Promise<unknown>;

const COMMENT = '/v2/commentannotations/comments/add';
const user = { userId: 'load-user', name: 'Load', email: 'load@example.com' };

const senders: Readonly<Record<MixedPath, SendCall>> = {
  '/v2/commentannotations/get': (client, organizationId, { documentId }) =>
    client.v2.commentannotations.get({ organizationId, documentIds: [documentId] }),
  [COMMENT]: (client, organizationId, { documentId, annotationId }) =>
    client.v2.commentannotations.comments.add({
      organizationId,
      documentId,
      annotationId,
      commentData: [{ commentText: 'A comment of a load run', from: user }],
    }),
  '/v2/organizations/documents/get': (client, organizationId, { documentId }) =>
    client.v2.organizations.documents.get({ organizationId, documentIds: [documentId] }),
  '/v2/users/get': (client, organizationId) => client.v2.users.get({ organizationId, userIds: [user.userId] }),
  '/v2/auth/permissions/get': (client, organizationId, { documentId }) =>
    client.v2.auth.permissions.get({ organizationId, userIds: [user.userId], documentIds: [documentId] }),
  '/v2/organizations/documents/update': (client, organizationId, { documentId }) =>
    client.v2.organizations.documents.update({
      organizationId,
      documents: [{ documentId, documentName: `Load ${Date.now()}` }],
    }),
};

/** Deletes the organization of the run at the end, also after a failure or after `interrupt` aborts the run. */
export async function runLoad(
  { baseUrl, credentialsFile, perSecond, minutes, serviceName }: LoadOptions,
  interrupt: AbortSignal,
): Promise<string> {
  const credentials = await apiCredentials(credentialsFile);
  const options = { baseUrl, ...credentials, serviceName, timeoutMilliseconds: TIMEOUT_MILLISECONDS };
  const organizationId = `load-${crypto.randomUUID()}`;
  const retryingClient = createClient(options);
  await retryingClient.v2.organizations.add({ organizations: [{ organizationId }] });
  try {
    const starts = plannedStarts(perSecond, minutes);
    const calls = inProportion(callMix, starts.length);
    const comments = calls.filter(({ path }) => path === COMMENT).length;
    const data = await createData(retryingClient, organizationId, documentsFor(comments), interrupt);
    const outcomes = await sendCalls(createClient({ ...options, attempts: 1 }), data, calls, starts, interrupt);
    return report(outcomes, perSecond, minutes);
  } finally {
    await retryingClient.v2.organizations.delete({ organizationIds: [organizationId] });
  }
}

async function createData(
  client: Methods,
  organizationId: string,
  count: number,
  interrupt: AbortSignal,
): Promise<LoadData> {
  await client.v2.users.add({ organizationId, users: [user] });
  const documents = Array.from({ length: count }, (_each, index) => ({
    documentId: `load-${index}`,
    annotationId: `load-thread-${index}`,
  }));
  for (const part of slicesOf(documents, DOCUMENTS_PER_CALL))
    await client.v2.organizations.documents.add({
      organizationId,
      documents: part.map(({ documentId }) => ({ documentId })),
    });
  await inParallel(documents, PARALLEL_CREATIONS, async ({ documentId, annotationId }) => {
    interrupt.throwIfAborted();
    await client.v2.commentannotations.add({
      organizationId,
      documentId,
      commentAnnotations: [{ annotationId, commentData: [{ commentText: 'The first comment', from: user }] }],
    });
  });
  return { organizationId, documents };
}

/** Does not wait for earlier answers before it starts a call, so the rate stays constant. */
async function sendCalls(
  client: Methods,
  { organizationId, documents }: LoadData,
  calls: readonly (typeof callMix)[number][],
  starts: readonly number[],
  interrupt: AbortSignal,
): Promise<CallOutcome[]> {
  const begin = performance.now();
  const outcomes: CallOutcome[] = [];
  const running = new Set<Promise<void>>();
  // With one counter for all paths, a path could reach only few documents, because the order of paths repeats.
  const sentOfKind = new Map<string, number>();
  for (const [index, call] of calls.entries()) {
    const start = begin + (starts[index] ?? 0);
    await sleep(Math.max(0, start - performance.now()), undefined, { signal: interrupt });
    if (running.size >= MAX_UNANSWERED_CALLS)
      throw new Error(`${MAX_UNANSWERED_CALLS} calls wait for an answer. The API is too slow for the rate of calls.`);
    const number = sentOfKind.get(call.path) ?? 0;
    sentOfKind.set(call.path, number + 1);
    const document = documents[number % documents.length];
    if (!document) throw new Error('The run has no documents');
    const sent = senders[call.path](client, organizationId, document)
      .then(
        () => undefined,
        (error: unknown) => (error instanceof ServiceError ? error.status : String(error)),
      )
      .then((error) => {
        outcomes.push({ path: call.path, milliseconds: performance.now() - start, error });
        running.delete(sent);
      });
    running.add(sent);
  }
  await Promise.all(running);
  return outcomes;
}

function report(outcomes: readonly CallOutcome[], perSecond: number, minutes: number): string {
  const dollarsPerMillion = new Map<string, number>(
    costsOfMix(registeredEndpoints()).map(({ path, cost }) => [path, cost.total]),
  );
  const reports = reportsOf(outcomes);
  const width = Math.max(...reports.map(({ path }) => path.length));
  const cell = (value: number | string) => String(value).padStart(9);
  const dollars = reports.reduce(
    (sum, { path, calls }) => sum + (calls * (dollarsPerMillion.get(path) ?? 0)) / MILLION,
    0,
  );
  const failed = outcomes.filter(({ error }) => error !== undefined).length;
  return [
    `${outcomes.length} calls in ${minutes} minutes, ${perSecond} per second. ${failed} failed.`,
    '',
    [''.padEnd(width), ...['calls', 'p50 ms', 'p99 ms'].map(cell), '  errors'].join(''),
    ...reports.map(({ path, calls, p50, p99, errors }) => {
      const failures = Object.entries(errors).map(([status, count]) => `${count} ${status}`);
      return [
        path.padEnd(width),
        ...[calls, p50.toFixed(1), p99.toFixed(1)].map(cell),
        `  ${failures.join(', ') || '-'}`,
      ].join('');
    }),
    '',
    `Cost of the calls at list prices: ${dollars.toFixed(4)} dollars. They cause no webhooks and no mails.`,
  ].join('\n');
}

if (import.meta.main) {
  await runCommand(USAGE, async (args) => {
    const options = loadOptions(args);
    const interruption = new AbortController();
    // A second Ctrl-C ends the process at once.
    process.once('SIGINT', () => interruption.abort());
    return runLoad(options, interruption.signal);
  });
}
