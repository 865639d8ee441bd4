import { sourceFile } from '../../lib/endpoint.ts';
import { toLambda } from '../../lib/http/lambda.ts';
import type { Handler } from '../../lib/http/stack.ts';
import { type Headers, post, type Response } from './requests.ts';
import { newWorkspace } from './workspaces.ts';

const handlers = new Map<string, Handler>();

/** The handler of an endpoint, by its path. */
export async function handlerOf(path: string): Promise<Handler> {
  let handler = handlers.get(path);
  if (!handler) {
    const { endpoint } = (await import(`../../${sourceFile(path)}`)) as { endpoint: Parameters<typeof toLambda>[0] };
    handler = toLambda(endpoint);
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
