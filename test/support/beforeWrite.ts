import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import { Table, type WriteOp } from '../../lib/table/table.ts';

/** Runs `work` once, before the first write for which `matches` returns true. */
export function beforeWrite(
  work: () => Promise<unknown>,
  matches: (ops: readonly WriteOp[]) => boolean = () => true,
): void {
  const { write } = Table.prototype;
  // The calls of `work` are calls of the test, not of the function that writes.
  const runAsTest = AsyncLocalStorage.bind(work);
  const spy = jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
    if (matches(ops)) {
      spy.mockRestore();
      await runAsTest();
    }
    return write.call(this, ops);
  });
}

/** Returns whether a write stores an item of a type. */
export const writesItem = (type: string) => (ops: readonly WriteOp[]) =>
  ops.some((op) => 'put' in op && op.put._t === type);
