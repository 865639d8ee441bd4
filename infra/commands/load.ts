/** `npm run load`: sends a bounded load to a deployed API or a local run, and prints latencies, errors and cost by endpoint. */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient, type Methods, ServiceError } from '../../lib/client/index.ts';
import { registeredEndpoints } from '../build/registry.ts';
import { apiCredentials } from './apiCredentials.ts';
import { costsOfCalls } from './cost/calls.ts';
import { MILLION } from './cost/prices.ts';
import { type CallOutcome, inProportion, plannedStarts, reportsOf } from './load/rules.ts';
import { runCommand } from './operator.ts';

const USAGE = `Usage: npm run load -- <ApiUrl> [--rps <n>] [--minutes <n>] [--credentials <file>]

Sends calls at a constant rate, also while earlier calls wait for an answer. Prints p50, p99 and errors by endpoint. Creates
an organization for the run and deletes it at the end. Does not repeat failed calls.

  --rps          calls per second, up to 1,000 (default: 20)
  --minutes      the duration, up to 60 (default: 1)
  --credentials  a file as npm run workspace -- create prints it (default: API_KEY, AUTH_TOKEN, WORKSPACE_ID and
                 WORKSPACE_AUTH_TOKEN, or credentials.json in DATA_DIR)
  --help         prints this text`;

const MAX_CALLS_PER_SECOND = 1_000;
const MAX_MINUTES = 60;
/** The number of unanswered calls at which the run fails, because the API is too slow for the rate. */
const MAX_UNANSWERED_CALLS = 2_000;
const TIMEOUT_MILLISECONDS = 30_000;
const DOCUMENTS = 10;

/** The data of a run. */
interface LoadData {
  readonly organizationId: string;
  /** The documents, each with the id of its comment thread. */
  readonly documents: readonly { readonly documentId: string; readonly annotationId: string }[];
}

/** One kind of call. */
interface Call {
  readonly path: string;
  /** The share of this kind among all calls. */
  readonly weight: number;
  /** The name of the call in `npm run cost`. */
  readonly cost: string;
  readonly send: (client: Methods, organizationId: string, at: LoadData['documents'][number]) => Promise<unknown>;
}

const user = { userId: 'load-user', name: 'Load', email: 'load@example.com' };

/** A mix of calls like that of a server that shows documents with comments. */
const mix: readonly Call[] = [
  {
    path: '/v2/commentannotations/get',
    weight: 6,
    cost: 'a page',
    send: (client, organizationId, { documentId }) =>
      client.v2.commentannotations.get({ organizationId, documentIds: [documentId] }),
  },
  {
    path: '/v2/commentannotations/comments/add',
    weight: 3,
    cost: 'one',
    send: (client, organizationId, { documentId, annotationId }) =>
      client.v2.commentannotations.comments.add({
        organizationId,
        documentId,
        annotationId,
        commentData: [{ commentText: 'A comment of a load run', from: user }],
      }),
  },
  {
    path: '/v2/organizations/documents/get',
    weight: 3,
    cost: 'by id',
    send: (client, organizationId, { documentId }) =>
      client.v2.organizations.documents.get({ organizationId, documentIds: [documentId] }),
  },
  {
    path: '/v2/users/get',
    weight: 3,
    cost: 'by id',
    send: (client, organizationId) => client.v2.users.get({ organizationId, userIds: [user.userId] }),
  },
  {
    path: '/v2/auth/permissions/get',
    weight: 3,
    cost: 'on a document',
    send: (client, organizationId, { documentId }) =>
      client.v2.auth.permissions.get({ organizationId, userIds: [user.userId], documentIds: [documentId] }),
  },
  {
    path: '/v2/organizations/documents/update',
    weight: 2,
    cost: 'one',
    send: (client, organizationId, { documentId }) =>
      client.v2.organizations.documents.update({
        organizationId,
        documents: [{ documentId, documentName: `Load ${Date.now()}` }],
      }),
  },
];

/** The options of a load run. */
export interface LoadOptions {
  readonly baseUrl: string;
  readonly credentialsFile?: string | undefined;
  readonly perSecond: number;
  readonly minutes: number;
}

/**
 * Sends the load and returns a report as text. Deletes the organization of the run, also after a failure. Throws if the API is
 * too slow for the rate, or if the organization cannot be created.
 */
export async function runLoad({ baseUrl, credentialsFile, perSecond, minutes }: LoadOptions): Promise<string> {
  const credentials = await apiCredentials(credentialsFile);
  const options = { baseUrl, ...credentials, timeoutMilliseconds: TIMEOUT_MILLISECONDS };
  const organizationId = `load-${crypto.randomUUID()}`;
  const retryingClient = createClient(options);
  try {
    const data = await createData(retryingClient, organizationId);
    const outcomes = await sendCalls(createClient({ ...options, attempts: 1 }), data, perSecond, minutes);
    return report(outcomes, perSecond, minutes);
  } finally {
    await retryingClient.v2.organizations.delete({ organizationIds: [organizationId] });
  }
}

async function createData(client: Methods, organizationId: string): Promise<LoadData> {
  await client.v2.organizations.add({ organizations: [{ organizationId }] });
  await client.v2.users.add({ organizationId, users: [user] });
  const documentIds = Array.from({ length: DOCUMENTS }, (_each, index) => `load-${index}`);
  await client.v2.organizations.documents.add({
    organizationId,
    documents: documentIds.map((documentId) => ({ documentId })),
  });
  const documents = await Promise.all(
    documentIds.map(async (documentId) => {
      const annotationId = `load-${documentId}`;
      await client.v2.commentannotations.add({
        organizationId,
        documentId,
        commentAnnotations: [{ annotationId, commentData: [{ commentText: 'The first comment', from: user }] }],
      });
      return { documentId, annotationId };
    }),
  );
  return { organizationId, documents };
}

/** Starts each call at its planned time (open loop), and returns the outcomes of all calls. */
async function sendCalls(
  client: Methods,
  { organizationId, documents }: LoadData,
  perSecond: number,
  minutes: number,
): Promise<CallOutcome[]> {
  const starts = plannedStarts(perSecond, minutes);
  const calls = inProportion(mix, starts.length);
  const begin = performance.now();
  const outcomes: CallOutcome[] = [];
  const running = new Set<Promise<void>>();
  for (const [index, call] of calls.entries()) {
    const start = begin + (starts[index] ?? 0);
    await sleep(Math.max(0, start - performance.now()));
    if (running.size >= MAX_UNANSWERED_CALLS)
      throw new Error(
        `${MAX_UNANSWERED_CALLS} calls wait for an answer. The API is too slow for ${perSecond} calls per second.`,
      );
    const document = documents[index % documents.length];
    if (!document) throw new Error('The run has no documents');
    const sent = call
      .send(client, organizationId, document)
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
  const costs = new Map(costsOfCalls(registeredEndpoints()).map(({ name, total }) => [name, total]));
  const dollarsPerCall = new Map(
    mix.map(({ path, cost }) => {
      const dollars = costs.get(`${path} ${cost}`);
      if (dollars === undefined) throw new Error(`npm run cost has no "${path} ${cost}"`);
      return [path, dollars / MILLION] as const;
    }),
  );
  const reports = reportsOf(outcomes);
  const width = Math.max(...reports.map(({ path }) => path.length));
  const cell = (value: number | string) => String(value).padStart(9);
  const dollars = reports.reduce((sum, { path, calls }) => sum + calls * (dollarsPerCall.get(path) ?? 0), 0);
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
    `Cost at list prices: ${dollars.toFixed(4)} dollars, without the webhooks and mails that the calls cause.`,
  ].join('\n');
}

/** Returns the options of a command line. Throws an error that names the invalid argument. */
export function loadOptions(args: readonly string[]): LoadOptions | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rps: { type: 'string', default: '20' },
      minutes: { type: 'string', default: '1' },
      credentials: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const [baseUrl, ...furtherArguments] = positionals;
  if (values.help) return 'help';
  if (baseUrl === undefined || furtherArguments.length > 0 || !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ''))
    throw new Error('Give the address of the API, such as https://api.example.com. --help explains the options.');
  return {
    baseUrl,
    credentialsFile: values.credentials,
    perSecond: boundedNumber('--rps', values.rps, MAX_CALLS_PER_SECOND),
    minutes: boundedNumber('--minutes', values.minutes, MAX_MINUTES),
  };
}

function boundedNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!(value > 0 && value <= most)) throw new Error(`${option} must be a number above 0, up to ${most}`);
  return value;
}

if (import.meta.main) {
  await runCommand(async () => {
    const options = loadOptions(process.argv.slice(2));
    return options === 'help' ? USAGE : runLoad(options);
  });
}
