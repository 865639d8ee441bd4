import { gatewayResponse, type GatewayResponse } from '../gateway/httpApiResponse.ts';
import type { DashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import type { Parts } from '../parts.ts';
import { type ConsoleState, type PartsAnswer, ranges } from './consoleState.ts';
import type { LocalRequest } from './localRequest.ts';
import { DASHBOARD, type PageFile, pageFiles } from './pageFiles.ts';

export interface LocalConsoleOptions {
  /** Returns the data of the dashboard for the last `minutes`. */
  readonly snapshotOf: (minutes: number) => DashboardSnapshot;
  readonly parts: Pick<Parts, 'list' | 'stop' | 'start'>;
  /** The title of the page. */
  readonly title: string;
}

const PARTS = /^\/_local\/parts\/([^/]+)$/;

/** The headers of every response. The page can load only its own files, and browsers cache no response. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The functions that handle a path, by HTTP method. */
type Handlers = Readonly<Record<string, () => GatewayResponse | Promise<GatewayResponse>>>;
type Files = ReadonlyMap<string, PageFile>;

/**
 * Returns the handler of requests below `/_local/`: the dashboard, its data as JSON, and the switches of the parts. A
 * switch requires the content type JSON, because CORS forbids pages of other origins to send it.
 */
export function localConsole(options: LocalConsoleOptions): (request: LocalRequest) => Promise<GatewayResponse> {
  let cachedFiles: Promise<Files> | undefined;
  // The files are read once. After an error, the next request reads them again.
  const files = () =>
    (cachedFiles ??= pageFiles().catch((error: unknown) => {
      cachedFiles = undefined;
      throw error;
    }));
  return async (request) => {
    const answer = await answerRequest(request.method, await handlersOf(request, options, files));
    return { ...answer, headers: { ...headers, ...answer.headers } };
  };
}

async function handlersOf(
  { path, query, headers: requestHeaders, body }: LocalRequest,
  options: LocalConsoleOptions,
  files: () => Promise<Files>,
): Promise<Handlers | undefined> {
  if (path === `${DASHBOARD}.json`) return { GET: () => stateAnswer(query, options) };
  const name = PARTS.exec(path)?.[1];
  const part = options.parts.list().find((each) => each.name === name);
  if (part) return { POST: () => switchAnswer(part.name, requestHeaders['content-type'], body, options) };
  const file = (await files()).get(path);
  return file && { GET: () => ({ status: 200, headers: { 'content-type': file.type }, body: file.body }) };
}

function answerRequest(method: string, handlers: Handlers | undefined): GatewayResponse | Promise<GatewayResponse> {
  if (!handlers) return gatewayResponse(404, `There is no page at this path. The dashboard is at ${DASHBOARD}.`);
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (handler) return handler();
  const allow = Object.keys(handlers).join(', ');
  const refused = gatewayResponse(405, `This path supports ${allow} only.`);
  return { ...refused, headers: { ...refused.headers, allow } };
}

function stateAnswer(query: URLSearchParams, { snapshotOf, parts, title }: LocalConsoleOptions): GatewayResponse {
  const minutes = query.get('minutes') ?? String(ranges[0]);
  if (!ranges.map(String).includes(minutes)) return gatewayResponse(400, `"minutes" must be ${ranges.join(' or ')}.`);
  return json({ ...snapshotOf(Number(minutes)), title, parts: parts.list() } satisfies ConsoleState);
}

async function switchAnswer(
  name: Parameters<Parts['stop']>[0],
  contentType: string | undefined,
  body: Buffer,
  { parts }: LocalConsoleOptions,
): Promise<GatewayResponse> {
  if (!/^application\/json *(;|$)/i.test(contentType ?? ''))
    return gatewayResponse(415, 'The content type must be application/json.');
  const running = readRunning(body);
  if (running === undefined)
    return gatewayResponse(
      400,
      'The body must be {"running": true} to start the part, or {"running": false} to stop it.',
    );
  await (running ? parts.start(name) : parts.stop(name));
  return json({ parts: parts.list() } satisfies PartsAnswer);
}

/** Returns whether the part is to run, or undefined for an invalid body. */
function readRunning(body: Buffer): boolean | undefined {
  try {
    const { running } = JSON.parse(body.toString()) as { running?: unknown };
    return typeof running === 'boolean' ? running : undefined;
  } catch {
    return undefined;
  }
}

function json(value: object): GatewayResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}
