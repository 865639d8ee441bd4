import { gatewayAnswer, type GatewayAnswer } from '../gateway/httpApiAnswer.ts';
import type { Picture } from '../metrics/picture.ts';
import type { Parts } from '../parts.ts';
import { type ConsoleState, type PartsAnswer, ranges } from './consoleState.ts';
import type { LocalRequest } from './localRequest.ts';
import { DASHBOARD, type PageFile, pageFiles } from './pageFiles.ts';

export interface LocalConsoleOptions {
  /** What was measured in the last so many minutes. */
  picture(minutes: number): Picture;
  readonly parts: Pick<Parts, 'list' | 'stop' | 'start'>;
  /** What the page calls the system. */
  readonly title: string;
}

const PARTS = /^\/_local\/parts\/([^/]+)$/;

/** For everything that this console answers: what a page may load is its own, and what it asked for is never kept. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** What can be done at a path, by method. */
type Handlers = Readonly<Record<string, () => GatewayAnswer | Promise<GatewayAnswer>>>;
type Files = ReadonlyMap<string, PageFile>;

/**
 * What the local run serves beneath `/_local/`: the dashboard, what it shows as JSON, and the switches of the parts that can be stopped.
 * Gives the function that answers one request; it asks the caller of a switch for JSON, which a page of another origin cannot send unasked.
 */
export function localConsole(options: LocalConsoleOptions): (request: LocalRequest) => Promise<GatewayAnswer> {
  let kept: Promise<Files> | undefined;
  // Read once; what could not be read is tried again by the next one who asks.
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

function answered(method: string, handlers: Handlers | undefined): GatewayAnswer | Promise<GatewayAnswer> {
  if (!handlers) return gatewayAnswer(404, `There is nothing here. The dashboard is at ${DASHBOARD}.`);
  if (Object.hasOwn(handlers, method)) return handlers[method]!();
  const allow = Object.keys(handlers).join(', ');
  const refused = gatewayAnswer(405, `Only ${allow} can be done here.`);
  return { ...refused, headers: { ...refused.headers, allow } };
}

function stateAnswer(query: URLSearchParams, { picture, parts, title }: LocalConsoleOptions): GatewayAnswer {
  const minutes = query.get('minutes') ?? String(ranges[0]);
  if (!ranges.map(String).includes(minutes)) return gatewayAnswer(400, `"minutes" must be ${ranges.join(' or ')}.`);
  return json({ ...picture(Number(minutes)), title, parts: parts.list() } satisfies ConsoleState);
}

async function switchAnswer(
  name: Parameters<Parts['stop']>[0],
  contentType: string | undefined,
  body: Buffer,
  { parts }: LocalConsoleOptions,
): Promise<GatewayAnswer> {
  if (!/^application\/json *(;|$)/i.test(contentType ?? ''))
    return gatewayAnswer(415, 'The content type must be application/json.');
  const running = runningOf(body);
  if (running === undefined)
    return gatewayAnswer(
      400,
      'The body must be {"running": true} to start the part, or {"running": false} to stop it.',
    );
  await (running ? parts.start(name) : parts.stop(name));
  return json({ parts: parts.list() } satisfies PartsAnswer);
}

/** What the body says about the part; undefined when it says anything else. */
function runningOf(body: Buffer): boolean | undefined {
  try {
    const { running } = JSON.parse(body.toString()) as { running?: unknown };
    return typeof running === 'boolean' ? running : undefined;
  } catch {
    return undefined;
  }
}

function json(value: object): GatewayAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}
