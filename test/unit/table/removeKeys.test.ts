import { afterEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { Key } from '../../../lib/table/entity.ts';
import { Table } from '../../../lib/table/table.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';
import { times } from '../../support/times.ts';

const key = (n: number): Key => ({ PK: 'p', SK: `${n}` });
const keys = (count: number, from = 0) => times(count, (index) => key(from + index));

interface Request {
  readonly DeleteRequest: { readonly Key: Key };
}

/** Returns a table whose calls leave the keys from `answer` unprocessed. If `answer` throws, the call fails. */
function tableOf(answer: (sks: readonly string[]) => readonly string[] | Promise<readonly string[]> = () => []) {
  const calls: string[][] = [];
  let [open, most] = [0, 0];
  const client = asDocumentClient({
    async send({ constructor: { name }, input }: Command) {
      expect(name).toBe('BatchWriteCommand');
      const requests = input.RequestItems.t as Request[];
      const sks = requests.map(
        ({
          DeleteRequest: {
            Key: { SK },
          },
        }) => SK,
      );
      calls.push(sks);
      most = Math.max(most, ++open);
      await new Promise(setImmediate);
      open -= 1;
      const unprocessedKeys = await answer(sks);
      return {
        UnprocessedItems: {
          t: requests.filter(
            ({
              DeleteRequest: {
                Key: { SK },
              },
            }) => unprocessedKeys.includes(SK),
          ),
        },
      };
    },
  });
  return { table: new Table(client, 't'), calls, atOnce: () => most };
}

describe('Table.removeKeys', () => {
  afterEach(() => void jest.restoreAllMocks());

  test('deletes the keys of all callers in calls of 25 distinct keys, and repeats unprocessed ones', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(300), { maxLength: 120 }), { maxLength: 6 }),
        fc.nat(3),
        async (callers, every) => {
          const unprocessedKeys = new Set<string>();
          const removed = new Set<string>();
          const { table, calls } = tableOf((sks) => {
            // The table leaves some keys unprocessed the first time.
            const over = sks.filter((sk) => every > 0 && Number(sk) % (every * 7) === 1 && !unprocessedKeys.has(sk));
            for (const sk of sks) (over.includes(sk) ? unprocessedKeys : removed).add(sk);
            return over;
          });
          await Promise.all(
            callers.map(async (numbers) => {
              await table.removeKeys(numbers.map(key));
              expect(numbers.every((n) => removed.has(`${n}`))).toBe(true);
            }),
          );
          expect(removed).toEqual(new Set(callers.flat().map(String)));
          for (const call of calls) expect([new Set(call).size, call.length <= 25]).toEqual([call.length, true]);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('fills calls with keys of simultaneous callers', async () => {
    const { table, calls, atOnce } = tableOf();
    await Promise.all(times(200, (index) => table.removeKeys(keys(5, index * 5))));
    expect(calls.flat()).toHaveLength(1_000);
    expect(calls.length).toBeLessThanOrEqual(50);
    expect(atOnce()).toBeLessThanOrEqual(16);
  });

  test('fails only for the callers of a failed call, after their other calls have ended', async () => {
    const { table, calls } = tableOf((sks) => (sks.includes('30') ? Promise.reject(new Error('no')) : []));
    const [first, second] = await Promise.allSettled([table.removeKeys(keys(25)), table.removeKeys(keys(50, 25))]);
    expect([first.status, second]).toEqual(['fulfilled', { status: 'rejected', reason: new Error('no') }]);
    expect(calls.flat()).toHaveLength(75);
    await table.removeKeys(keys(3, 100));
    expect(calls.at(-1)).toEqual(['100', '101', '102']);
  });

  test('throws a throttling error when keys stay unprocessed', async () => {
    // A pause is multiplied by half more than this number, so all pauses are 0.
    jest.spyOn(Math, 'random').mockReturnValue(-0.5);
    const { table, calls } = tableOf(() => ['1']);
    await expect(table.removeKeys(keys(3))).rejects.toMatchObject({ name: 'ThrottlingException' });
    expect([calls.length, calls[1]]).toEqual([12, ['1']]);
  });

  test('makes no call without keys', async () => {
    const { table, calls } = tableOf();
    await table.removeKeys([]);
    expect(calls).toEqual([]);
  });
});
