import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { otherVersion, sourceFile } from '../../lib/app/endpoint.ts';
import { toLambda, toLambdaWithTwin } from '../../lib/http/lambda.ts';
import type { Handler } from '../../lib/http/stack.ts';
import { type Headers, post, type Response } from './requests.ts';
import { newWorkspace } from './workspaces.ts';

const handlers = new Map<string, Handler>();

/** Imports the declaration of an endpoint by its path. A twin's path leads to the other version's file. */
async function importDeclaration(
  path: string,
): Promise<{ endpoint: Parameters<typeof toLambdaWithTwin>[0]; twin?: Parameters<typeof toLambdaWithTwin>[1] }> {
  const file = [path, otherVersion(path)]
    .map(sourceFile)
    .find((candidate) => existsSync(resolve(import.meta.dirname, '../..', candidate)));
  return import(`../../${file}`);
}

/** Returns the handler of an endpoint or a twin. It gives all requests the route of `path`. */
export async function handlerOf(path: string): Promise<Handler> {
  let handler = handlers.get(path);
  if (!handler) {
    const { endpoint, twin } = await importDeclaration(path);
    const newHandler = twin ? toLambdaWithTwin(endpoint, twin) : toLambda(endpoint);
    handler = (event, context) => newHandler({ ...event, routeKey: `POST ${path}` }, context);
    handlers.set(path, handler);
  }
  return handler;
}

/** Discards all handlers. Later calls create new ones, which have no credentials in memory. */
export function restartFunctions(): void {
  handlers.clear();
}

export interface Customer {
  readonly headers: Headers;
  /** The credentials of the customer's workspace. */
  readonly workspaceHeaders: Headers;
  readonly apiKey: string;
  readonly authToken: string;
  /** Sends `data` to an endpoint with this customer's credentials. */
  call(path: string, data: unknown, headers?: Headers): Promise<Response>;
  /** Sends a call that must succeed. Returns the `data` of the answer. */
  ok(path: string, data: unknown): Promise<any>;
}

/** Creates a customer, which has its own workspace and API key. */
export async function newCustomer(): Promise<Customer> {
  const { headers: workspaceHeaders, keyHeaders, apiKey, authToken } = await newWorkspace();
  const call = async (path: string, data: unknown, headers: Headers = {}) =>
    post(await handlerOf(path), { ...keyHeaders, ...headers }, data);
  return {
    headers: keyHeaders,
    workspaceHeaders,
    apiKey,
    authToken,
    call,
    async ok(path, data) {
      const { status, body } = await call(path, data);
      if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
      return body.result.data;
    },
  };
}
