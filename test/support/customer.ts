import { sourceFile } from '../../lib/endpoint.ts';
import type { Handler } from '../../lib/http/stack.ts';
import { type Headers, post, type Response } from './requests.ts';
import { newWorkspace } from './workspaces.ts';

const handlers = new Map<string, Handler>();

/** The handler of an endpoint, by its path. */
export async function handlerOf(path: string): Promise<Handler> {
  let handler = handlers.get(path);
  if (!handler) {
    ({ handler } = (await import(`../../${sourceFile(path)}`)) as { handler: Handler });
    handlers.set(path, handler);
  }
  return handler;
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
  const call = async (path: string, data: unknown, headers: Headers = {}) => post(await handlerOf(path), { ...keyHeaders, ...headers }, data);
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
