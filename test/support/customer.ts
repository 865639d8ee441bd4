import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { otherVersion, sourceFile } from '../../lib/app/endpoint.ts';
import { toLambda, toLambdaWithTwin } from '../../lib/http/lambda.ts';
import type { Handler } from '../../lib/http/stack.ts';
import { type Headers, post, type Response } from './requests.ts';
import { newWorkspace } from './workspaces.ts';

const handlers = new Map<string, Handler>();

/** What the function of a path is made of: the endpoint whose file mirrors the path, or the path of its twin. */
async function declared(
  path: string,
): Promise<{ endpoint: Parameters<typeof toLambdaWithTwin>[0]; twin?: Parameters<typeof toLambdaWithTwin>[1] }> {
  const file = [path, otherVersion(path)]
    .map(sourceFile)
    .find((one) => existsSync(resolve(import.meta.dirname, '../..', one)));
  return import(`../../${file}`);
}

/** The handler of an endpoint or a twin, by its path; requests come to it by the route of that path. */
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

/** Starts every function anew: none remembers a credential. */
export function restartFunctions(): void {
  handlers.clear();
}

export interface Customer {
  readonly headers: Headers;
  readonly apiKey: string;
  readonly authToken: string;
  /** Sends `data` to an endpoint with the customer's credentials. */
  call(path: string, data: unknown, headers?: Headers): Promise<Response>;
  /** The same, for calls that must succeed; gives the answer's `data`. */
  ok(path: string, data: unknown): Promise<any>;
}

/** A customer with a workspace and an API key of its own. */
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
