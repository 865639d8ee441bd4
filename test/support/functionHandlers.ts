import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Endpoint, otherVersion, sourceFile } from '../../lib/app/endpoint.ts';
import type { Page } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { toLambda, toLambdaWithTwin } from '../../lib/http/lambda.ts';
import { toPage } from '../../lib/http/page.ts';
import type { Handler } from '../../lib/http/stack.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import { toWorkerLambda, type WorkerHandler } from '../../lib/workers/lambda.ts';
import { roleOf, variablesOf } from './permissions.ts';

/** The handlers of functions as they run when deployed: with the permissions and the environment variables of the function. */
const handlers = new Map<string, Promise<Handler>>();

type LambdaEndpoint = Parameters<typeof toLambdaWithTwin>[0];
type LambdaTwin = Parameters<typeof toLambdaWithTwin>[1];
type Variables = Readonly<Record<string, string>>;

interface Declarations {
  readonly endpoint?: Endpoint;
  readonly twin?: Endpoint;
  readonly page?: Page;
}

/** Returns the handler of an endpoint, a twin or a page. It gives all requests the route of `path`. */
export function handlerOf(path: string): Handler {
  return async (event, context) => {
    let handler = handlers.get(path);
    if (!handler) handlers.set(path, (handler = newHandler(path)));
    return (await handler)({ ...event, routeKey: `POST ${path}` }, context);
  };
}

/** Discards all handlers. Later calls create new ones, which have no credentials in memory. */
export function restartFunctions(): void {
  handlers.clear();
}

async function newHandler(path: string): Promise<Handler> {
  const { endpoint, twin, page } = await importDeclarations(path);
  return page ? pageHandler(page) : endpointHandler(endpoint!, {}, twin);
}

/** Returns the path of an endpoint of which `path` is an older name. */
export function presentName(path: string): string {
  return path.replace('/apikeymetadata/', '/apikeyconfig/');
}

/** Imports the declarations of a function by a path. A twin's path leads to the file of the endpoint. */
export async function importDeclarations(path: string): Promise<Declarations> {
  const file = [path, otherVersion(path), presentName(path)]
    .map(sourceFile)
    .find((candidate) => existsSync(resolve(import.meta.dirname, '../..', candidate)));
  return import(`../../${file}`) as Promise<Declarations>;
}

/** Returns a new handler of an endpoint. `variables` replace environment variables. */
export function endpointHandler(endpoint: Endpoint, variables: Variables = {}, twin?: Endpoint): Handler {
  const declaration = endpoint as unknown as LambdaEndpoint;
  return asFunction(endpoint.path, capabilitiesOf(endpoint), variables, (own) =>
    twin ? toLambdaWithTwin(declaration, twin as unknown as LambdaTwin, own) : toLambda(declaration, own),
  );
}

/** Returns a new handler of a page. */
export function pageHandler(page: Page): Handler {
  return asFunction(page.path, capabilitiesOf(page), {}, (own) =>
    toPage(page as unknown as Parameters<typeof toPage>[0], own),
  );
}

/** Returns a new handler of a worker. */
export function workerHandler(worker: Worker): WorkerHandler {
  return asFunction(worker.name, workerCapabilities(worker), {}, (own) =>
    toWorkerLambda(worker as unknown as Parameters<typeof toWorkerLambda>[0], own),
  );
}

function asFunction<A extends unknown[], R>(
  name: string,
  capabilities: ReturnType<typeof capabilitiesOf>,
  variables: Variables,
  create: (variables: Readonly<Record<string, string | undefined>>) => (...call: A) => Promise<R>,
): (...call: A) => Promise<R> {
  const all = Object.keys(variables).length === 0 ? process.env : { ...process.env, ...variables };
  const runWithRole = roleOf(name, capabilities, all);
  const handler = create(variablesOf(name, capabilities, all));
  return (...call) => runWithRole(() => handler(...call));
}
