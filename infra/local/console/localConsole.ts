import { gatewayResponse, type GatewayResponse } from '../gateway/httpApiResponse.ts';
import type { DashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import type { Parts } from '../parts.ts';
import { type ConsoleState, type PartsAnswer, ranges } from './consoleState.ts';
import type { LocalRequest } from './localRequest.ts';
import { DASHBOARD, type PageFile, pageFiles } from './pageFiles.ts';

export interface LocalConsoleOptions {
  /** Returns the dashboard data of the last minutes. */
  readonly picture: (minutes: number) => DashboardSnapshot;
  readonly parts: Pick<Parts, 'list' | 'stop' | 'start'>;
  /** The title of the page. */
  readonly title: string;
}

const PARTS = /^\/_local\/parts\/([^/]+)$/;

/** Headers of every response: the page loads only its own files, and nothing is cached. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Functions that handle a path, by method. */
type Handlers = Readonly<Record<string, () => GatewayResponse | Promise<GatewayResponse>>>;
type Files = ReadonlyMap<string, PageFile>;

/**
 * Returns the handler of requests below `/_local/`: the dashboard, its data as JSON, and the switches of the parts. A
 * switch requires the content type JSON, because a page of another origin cannot send it without permission (CORS).
 */
export function localConsole(options: LocalConsoleOptions): (request: LocalRequest) => Promise<GatewayResponse> {
  let kept: Promise<Files> | undefined;
  // Reads the files once. After an error the next request tries again.
  const files = () =>
    (kept ??= pageFiles().catch((error: unknown) => {
      kept = undefined;
      throw error;
    }));
  return async (request) => {
    const answer = await answered(request.method, await handlersOf(request, options, files));
    return { ...answer, headers: { ...headers, ...answer.headers } };
  };
}

async function handlersOf(
  { path, query, headers: sent, body }: LocalRequest,
  options: LocalConsoleOptions,
  files: () => Promise<Files>,
): Promise<Handlers | undefined> {
  if (path === `${DASHBOARD}.json`) return { GET: () => stateAnswer(query, options) };
  const name = PARTS.exec(path)?.[1];
  const part = options.parts.list().find((each) => each.name === name);
  if (part) return { POST: () => switchAnswer(part.name, sent['content-type'], body, options) };
  const file = (await files()).get(path);
  return file && { GET: () => ({ status: 200, headers: { 'content-type': file.type }, body: file.body }) };
}

function answered(method: string, handlers: Handlers | undefined): GatewayResponse | Promise<GatewayResponse> {
  if (!handlers) return gatewayResponse(404, `There is nothing here. The dashboard is at ${DASHBOARD}.`);
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (handler) return handler();
  const allow = Object.keys(handlers).join(', ');
  const refused = gatewayResponse(405, `Only ${allow} can be done here.`);
  return { ...refused, headers: { ...refused.headers, allow } };
}

function stateAnswer(query: URLSearchParams, { picture, parts, title }: LocalConsoleOptions): GatewayResponse {
  const minutes = query.get('minutes') ?? String(ranges[0]);
  if (!ranges.map(String).includes(minutes)) return gatewayResponse(400, `"minutes" must be ${ranges.join(' or ')}.`);
  return json({ ...picture(Number(minutes)), title, parts: parts.list() } satisfies ConsoleState);
}

async function switchAnswer(
  name: Parameters<Parts['stop']>[0],
  contentType: string | undefined,
  body: Buffer,
  { parts }: LocalConsoleOptions,
): Promise<GatewayResponse> {
  if (!/^application\/json *(;|$)/i.test(contentType ?? ''))
    return gatewayResponse(415, 'The content type must be application/json.');
  const running = runningOf(body);
  if (running === undefined)
    return gatewayResponse(
      400,
      'The body must be {"running": true} to start the part, or {"running": false} to stop it.',
    );
  await (running ? parts.start(name) : parts.stop(name));
  return json({ parts: parts.list() } satisfies PartsAnswer);
}

/** Returns the requested state of the part, or undefined for an invalid body. */
function runningOf(body: Buffer): boolean | undefined {
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
