import { expect, test } from '@jest/globals';
import { searchVectors } from '../../../lib/memory/vectorSearch.ts';
import type { Table } from '../../../lib/table/table.ts';

/** Returns a table on which every search fails with an error of this name. */
const failing = (name: string) =>
  ({
    connection: { name: 't', client: { send: () => Promise.reject(Object.assign(new Error('refused'), { name })) } },
  }) as unknown as Table;
const search = (table: Table) => searchVectors(table, 'review', { vector: [1], where: { a: 'b' }, limit: 1 });

test('searchVectors throws UNAVAILABLE on a table engine without vector search', async () => {
  await expect(search(failing('UnknownOperationException'))).rejects.toMatchObject({
    status: 'UNAVAILABLE',
    message: 'Vector search is not available on this table engine.',
  });
});

test('searchVectors rethrows other errors', async () => {
  await expect(search(failing('ValidationException'))).rejects.toMatchObject({ name: 'ValidationException' });
});
