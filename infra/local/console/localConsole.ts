import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SLACK } from '../chat/slack.ts';
import type { LocalRequest } from '../gateway/gateway.ts';
import { type GatewayResponse, gatewayResponse } from '../gateway/httpApiResponse.ts';
import type { DashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import type { Parts } from '../parts.ts';
import { type ConsoleState, type PartsAnswer, ranges } from './consoleState.ts';
import { type DemoUser, demoUsers, type TokenAnswer, type TokenRequest } from './demoDocument.ts';
import { DASHBOARD, DEMO, type PageFile, pageFiles, QUERIES, RUNBOOK } from './pageFiles.ts';
import { type LocalQueries, queriesPage } from './queriesPage.ts';
import { runbookPage } from './runbookPage.ts';
import { START, START_STYLE, startPage } from './startPage.ts';

export interface LocalConsoleOptions {
  readonly snapshotOf: (minutes: number) => DashboardSnapshot;
  readonly parts: Pick<Parts, 'list' | 'stop' | 'start'>;
  readonly queries: LocalQueries;
  readonly title: string;
  readonly dataDir: string;
  readonly issueToken: (user: DemoUser) => Promise<string>;
  readonly slack: (request: LocalRequest) => Promise<GatewayResponse>;
}

const PARTS = /^\/_local\/parts\/([^/]+)$/;

const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** CodeMirror, the editor of the demo page, adds styles. The Event API has another port. */
const demoContentPolicy = contentPolicy
  .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
  .replace("connect-src 'self'", "connect-src 'self' ws://127.0.0.1:*");

/** For pages without scripts. The page of saved queries has a form. */
const textContentPolicy = contentPolicy
  .replace("script-src 'self'", "script-src 'none'")
  .replace("form-action 'none'", "form-action 'self'");

const headers = {
  'content-security-policy': contentPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

type Handlers = Readonly<Record<string, () => GatewayResponse | Promise<GatewayResponse>>>;
type Files = ReadonlyMap<string, PageFile>;

/**
 * Returns the handler of requests for `/` and below `/_local/`. It refuses requests from pages of other origins.
 * Requests for a token, or to stop or start a part, need the content type JSON, which browsers do not let pages of
 * other origins send (CORS).
 */
export function localConsole(options: LocalConsoleOptions): (request: LocalRequest) => Promise<GatewayResponse> {
  const cachedFiles = new Map<string, Promise<Files>>();
  return async (request) => {
    const answer = hasOtherOrigin(request)
      ? gatewayResponse(403, 'Pages of other origins may not send requests to these pages.')
      : await answerRequest(request.method, await handlersOf(request, options, cachedFiles));
    return { ...answer, headers: { ...headers, ...answer.headers } };
  };
}

function hasOtherOrigin({ headers: { origin, host = '' } }: LocalRequest): boolean {
  return origin !== undefined && origin !== `http://${host.toLowerCase()}`;
}

async function handlersOf(
  request: LocalRequest,
  options: LocalConsoleOptions,
  cachedFiles: Map<string, Promise<Files>>,
): Promise<Handlers | undefined> {
  const { path, query, headers: requestHeaders, body } = request;
  if (path === START) return { GET: () => startAnswer(options) };
  if (path === START_STYLE) return { GET: startStyle };
  if (path === `${DASHBOARD}.json`) return { GET: () => stateAnswer(query, options) };
  const contentType = requestHeaders['content-type'];
  if (path === `${DEMO}/token`) return { POST: () => tokenAnswer(contentType, body, options) };
  if (path.startsWith(`${SLACK}/`)) return { POST: () => options.slack(request) };
  const name = PARTS.exec(path)?.[1];
  const part = options.parts.list().find((each) => each.name === name);
  if (part) return { POST: () => switchAnswer(part.name, contentType, body, options) };
  if (path === QUERIES) return { GET: () => queriesAnswer(query, options) };
  const runbook = await runbookPage(
    path,
    options.queries.saved.map((each) => each.name),
  );
  if (runbook !== undefined) return { GET: () => textAnswer(runbook) };
  const file = await findFile(path, cachedFiles);
  const policy = path === DEMO ? { 'content-security-policy': demoContentPolicy } : {};
  return file && { GET: () => ({ status: 200, headers: { ...policy, 'content-type': file.type }, body: file.body }) };
}

/** The first request for a page makes its files. After an error, the next request makes them again. */
async function findFile(path: string, cachedFiles: Map<string, Promise<Files>>): Promise<PageFile | undefined> {
  const page = path.replace(/\.(js|css)$/, '');
  const makeFiles = Object.hasOwn(pageFiles, page) ? pageFiles[page] : undefined;
  if (!makeFiles) return undefined;
  const files = cachedFiles.get(page) ?? makeFiles();
  cachedFiles.set(page, files);
  try {
    return (await files).get(path);
  } catch (error) {
    cachedFiles.delete(page);
    throw error;
  }
}

function answerRequest(method: string, handlers: Handlers | undefined): GatewayResponse | Promise<GatewayResponse> {
  if (!handlers)
    return gatewayResponse(
      404,
      `There is no page at this path. The dashboard is at ${DASHBOARD}, the demo is at ${DEMO}, saved queries are at ${QUERIES}, and the runbook is at ${RUNBOOK}.`,
    );
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (handler) return handler();
  const allow = Object.keys(handlers).join(', ');
  const refused = gatewayResponse(405, `This path supports ${allow} only.`);
  return { ...refused, headers: { ...refused.headers, allow } };
}

function startAnswer({ title, dataDir }: LocalConsoleOptions): GatewayResponse {
  const body = Buffer.from(String(startPage(title, dataDir)));
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

async function startStyle(): Promise<GatewayResponse> {
  const body = await readFile(join(import.meta.dirname, '../../build/docs/site/docs.css'));
  return { status: 200, headers: { 'content-type': 'text/css; charset=utf-8' }, body };
}

function stateAnswer(query: URLSearchParams, { snapshotOf, parts, title }: LocalConsoleOptions): GatewayResponse {
  const minutes = query.get('minutes') ?? String(ranges[0]);
  if (!ranges.map(String).includes(minutes)) return gatewayResponse(400, `"minutes" must be ${ranges.join(' or ')}.`);
  return json({ ...snapshotOf(Number(minutes)), title, parts: parts.list() } satisfies ConsoleState);
}

async function queriesAnswer(query: URLSearchParams, { queries }: LocalConsoleOptions): Promise<GatewayResponse> {
  const page = await queriesPage(queries, query, Date.now());
  return page === undefined
    ? gatewayResponse(404, `There is no such saved query or time range. ${QUERIES} lists the saved queries.`)
    : textAnswer(page);
}

function textAnswer(page: string): GatewayResponse {
  return {
    status: 200,
    headers: { 'content-security-policy': textContentPolicy, 'content-type': 'text/html; charset=utf-8' },
    body: Buffer.from(page),
  };
}

async function switchAnswer(
  name: Parameters<Parts['stop']>[0],
  contentType: string | undefined,
  body: Buffer,
  { parts }: LocalConsoleOptions,
): Promise<GatewayResponse> {
  if (!isJson(contentType)) return gatewayResponse(415, NOT_JSON);
  const { running } = readBody(body) as { running?: unknown };
  if (typeof running !== 'boolean')
    return gatewayResponse(
      400,
      'The body must be {"running": true} to start the part, or {"running": false} to stop it.',
    );
  await (running ? parts.start(name) : parts.stop(name));
  return json({ parts: parts.list() } satisfies PartsAnswer);
}

async function tokenAnswer(
  contentType: string | undefined,
  body: Buffer,
  { issueToken }: LocalConsoleOptions,
): Promise<GatewayResponse> {
  if (!isJson(contentType)) return gatewayResponse(415, NOT_JSON);
  const { userId } = readBody(body) as Partial<TokenRequest>;
  const user = demoUsers.find((each) => each.userId === userId);
  if (!user) {
    const userIds = demoUsers.map((each) => each.userId).join(' or ');
    return gatewayResponse(400, `The body must be {"userId": "..."} with a user of the demo: ${userIds}.`);
  }
  return json({ token: await issueToken(user) } satisfies TokenAnswer);
}

const NOT_JSON = 'The content type must be application/json.';

function isJson(contentType = ''): boolean {
  return /^application\/json *(;|$)/i.test(contentType);
}

function readBody(body: Buffer): object {
  try {
    return Object(JSON.parse(body.toString())) as object;
  } catch {
    return {};
  }
}

function json(value: object): GatewayResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}
