import { afterEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { Key } from '../../../lib/table/entity.ts';
import { Table } from '../../../lib/table/table.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';

const key = (n: number): Key => ({ PK: 'p', SK: `${n}` });
const keys = (count: number, from = 0) => Array.from({ length: count }, (_each, index) => key(from + index));

interface Request {
  readonly DeleteRequest: { readonly Key: Key };
}

/** A table whose client does with each call what `answer` says: gives what it left, or throws. */
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
      const left = await answer(sks);
      return {
        UnprocessedItems: {
          t: requests.filter(
            ({
              DeleteRequest: {
                Key: { SK },
              },
            }) => left.includes(SK),
          ),
        },
      };
    },
  });
  return { table: new Table(client, 't'), calls, atOnce: () => most };
}

describe('removing keys', () => {
  afterEach(() => void jest.useRealTimers());

  test('of any number of callers takes each key once per call, 25 a call, and what is left over again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(300), { maxLength: 120 }), { maxLength: 6 }),
        fc.nat(3),
        async (callers, every) => {
          const left = new Set<string>();
          const removed = new Set<string>();
          const { table, calls } = tableOf((sks) => {
            // Some are left over at their first time.
            const over = sks.filter((sk) => every > 0 && Number(sk) % (every * 7) === 1 && !left.has(sk));
            for (const sk of sks) (over.includes(sk) ? left : removed).add(sk);
            return over;
          });
          await Promise.all(
            callers.map(async (wanted) => {
              await table.removeKeys(wanted.map(key));
              expect(wanted.every((n) => removed.has(`${n}`))).toBe(true);
            }),
          );
          expect(removed).toEqual(new Set(callers.flat().map(String)));
          for (const call of calls) expect([new Set(call).size, call.length <= 25]).toEqual([call.length, true]);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('makes full calls of what many callers want at the same time', async () => {
    const { table, calls, atOnce } = tableOf();
    await Promise.all(Array.from({ length: 200 }, (_each, index) => table.removeKeys(keys(5, index * 5))));
    expect(calls.flat()).toHaveLength(1_000);
    expect(calls.length).toBeLessThanOrEqual(50);
    expect(atOnce()).toBeLessThanOrEqual(16);
  });

  test('fails for those whose keys a failing call had, when nothing is under way for them any more; the next ones are not touched by it', async () => {
    const { table, calls } = tableOf((sks) => (sks.includes('30') ? Promise.reject(new Error('no')) : []));
    const [first, second] = await Promise.allSettled([table.removeKeys(keys(25)), table.removeKeys(keys(50, 25))]);
    expect([first.status, second]).toEqual(['fulfilled', { status: 'rejected', reason: new Error('no') }]);
    expect(calls.flat()).toHaveLength(75);
    await table.removeKeys(keys(3, 100));
    expect(calls.at(-1)).toEqual(['100', '101', '102']);
  });

  test('gives up what the table never takes, as an error that says that it was too much', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { table, calls } = tableOf(() => ['1']);
    const outcome = table.removeKeys(keys(3)).catch((error: unknown) => error);
    for (let i = 0; i < 200; i++) {
      await new Promise(setImmediate);
      jest.advanceTimersByTime(2_000);
    }
    expect(await outcome).toMatchObject({ name: 'ThrottlingException' });
    expect([calls.length, calls[1]]).toEqual([12, ['1']]);
  });

  test('of none makes no call', async () => {
    const { table, calls } = tableOf();
    await table.removeKeys([]);
    expect(calls).toEqual([]);
  });
});
