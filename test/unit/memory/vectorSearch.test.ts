import { expect, test } from '@jest/globals';
import { searchVectors } from '../../../lib/memory/vectorSearch.ts';
import type { Table } from '../../../lib/table/table.ts';

/** A table whose engine answers every search with an error of this name. */
const failing = (name: string) =>
  ({
    asked: { name: 't', client: { send: () => Promise.reject(Object.assign(new Error('refused'), { name })) } },
  }) as unknown as Table;
const search = (table: Table) => searchVectors(table, 'review', { vector: [1], where: { a: 'b' }, limit: 1 });

test('a search on a table engine without vector search is UNAVAILABLE, with the reason', async () => {
  await expect(search(failing('UnknownOperationException'))).rejects.toMatchObject({
    status: 'UNAVAILABLE',
    message: 'Vector search is not available on this table engine.',
  });
});

test('another error of a search stays what it is', async () => {
  await expect(search(failing('ValidationException'))).rejects.toMatchObject({ name: 'ValidationException' });
});
