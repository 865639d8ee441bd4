import type { Customer } from './customer.ts';
import type { Headers } from './requests.ts';

/** Returns functions that call agent endpoints as a customer. Paths are relative to `/v2/agents/`. */
export function agentCalls(customer: Customer) {
  const call = (path: string, data: object, headers: Headers = {}) =>
    customer.call(`/v2/agents/${path}`, data, headers);
  const ok = (path: string, data: object) => customer.untyped(`/v2/agents/${path}`, data);
  return {
    call,
    ok,
    /** Creates an agent and returns its id. */
    create: async (fields: object = {}): Promise<string> => (await ok('create', { name: 'Agent', ...fields })).agentId,
    /** Returns `success`, or the status of the error. */
    async status(path: string, data: object): Promise<string> {
      const { body } = await call(path, data);
      return body.error?.status ?? body.result.status;
    },
  };
}
