import { expect, test } from '@jest/globals';
import { searchVectors } from '../../../lib/memory/vectorSearch.ts';
import type { Table } from '../../../lib/table/table.ts';

/** Returns a table on which every search fails with this error. */
const failing = (name: string, message = 'refused') =>
  ({
    connection: { name: 't', client: { send: () => Promise.reject(Object.assign(new Error(message), { name })) } },
  }) as unknown as Table;
const search = (table: Table) => searchVectors(table, 'review', { vector: [1], where: { a: 'b' }, limit: 1 });

test('searchVectors throws UNAVAILABLE on a table engine without vector search', async () => {
  await expect(search(failing('UnknownOperationException'))).rejects.toMatchObject({
    status: 'UNAVAILABLE',
    message: 'Vector search is not available on this table engine.',
  });
});

test.each(['Cannot search backfilling vector index: review', 'The table does not have the specified index: review'])(
  'searchVectors throws UNAVAILABLE with a time to retry if DynamoDB answers "%s"',
  async (message) => {
    await expect(search(failing('ValidationException', message))).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      message: 'The index of the search is not ready yet. Send the request again later.',
      retryAfterSeconds: 60,
      cause: { message },
    });
  },
);

test('searchVectors rethrows other errors', async () => {
  await expect(search(failing('ValidationException'))).rejects.toMatchObject({ name: 'ValidationException' });
});
