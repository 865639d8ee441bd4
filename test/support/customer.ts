import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { otherVersion, sourceFile } from '../../lib/app/endpoint.ts';
import { toLambda, toLambdaWithTwin } from '../../lib/http/lambda.ts';
import type { Handler } from '../../lib/http/stack.ts';
import { type Headers, post, type Response } from './requests.ts';
import { newWorkspace } from './workspaces.ts';

const handlers = new Map<string, Handler>();

/** Imports the endpoint of a path, from the file of the path or of its twin. */
async function declared(
  path: string,
): Promise<{ endpoint: Parameters<typeof toLambdaWithTwin>[0]; twin?: Parameters<typeof toLambdaWithTwin>[1] }> {
  const file = [path, otherVersion(path)]
    .map(sourceFile)
    .find((one) => existsSync(resolve(import.meta.dirname, '../..', one)));
  return import(`../../${file}`);
}

/** Returns the handler of an endpoint or a twin. Its requests have the route of the path. */
export async function handlerOf(path: string): Promise<Handler> {
  let handler = handlers.get(path);
  if (!handler) {
    const { endpoint, twin } = await declared(path);
    const made = twin ? toLambdaWithTwin(endpoint, twin) : toLambda(endpoint);
    handler = (event, context) => made({ ...event, routeKey: `POST ${path}` }, context);
    handlers.set(path, handler);
  }
  return handler;
}

/** Restarts all functions, so that none has credentials in memory. */
export function restartFunctions(): void {
  handlers.clear();
}

export interface Customer {
  readonly headers: Headers;
  readonly apiKey: string;
  readonly authToken: string;
  /** Sends `data` to an endpoint with the customer's credentials. */
  call(path: string, data: unknown, headers?: Headers): Promise<Response>;
  /** Like `call`, for calls that must succeed. Returns the `data` of the answer. */
  ok(path: string, data: unknown): Promise<any>;
}

/** Creates a customer with its own workspace and API key. */
export async function newCustomer(): Promise<Customer> {
  const { keyHeaders, apiKey, authToken } = await newWorkspace();
  const call = async (path: string, data: unknown, headers: Headers = {}) =>
    post(await handlerOf(path), { ...keyHeaders, ...headers }, data);
  return {
    headers: keyHeaders,
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
