import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import { Table } from '../../lib/table/table.ts';
import type { Customer } from './customer.ts';

/**
 * Returns functions that call agent endpoints as a customer. Paths are relative to `/v2/agents/`.
 */
export function agentCalls(customer: Customer) {
  const call = (path: string, data: object) => customer.call(`/v2/agents/${path}`, data);
  const ok = (path: string, data: object) => customer.ok(`/v2/agents/${path}`, data);
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

type Ops = Parameters<Table['write']>[0];

/** Runs `work` once, before the first write for which `matches` returns true. Returns the spy on `Table.write`. */
export function beforeWrite(work: () => Promise<unknown>, matches: (ops: Ops) => boolean = () => true) {
  const { write } = Table.prototype;
  // The calls of `work` are calls of the test, not of the function that writes.
  const runAsTest = AsyncLocalStorage.bind(work);
  let isDone = false;
  return jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
    if (!isDone && matches(ops)) {
      isDone = true;
      await runAsTest();
    }
    return write.call(this, ops);
  });
}
