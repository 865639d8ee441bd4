import type { Entity, Stored } from './entity.ts';
import { itemOf, type ItemRead, type ReadValues, type Table } from './table.ts';

interface WaitingReads extends PromiseWithResolvers<readonly (() => unknown)[]> {
  readonly reads: readonly ItemRead<unknown>[];
}

const readers = new WeakMap<Table, BatchReader>();

/** Combines consistent reads of several callers: those of one turn of the event loop share a BatchGet per 100 keys. */
export class BatchReader {
  readonly #table: Pick<Table, 'batchGet'>;
  #waiting: WaitingReads[] = [];

  constructor(table: Pick<Table, 'batchGet'>) {
    this.#table = table;
  }

  static of(table: Table): BatchReader {
    const reader = readers.get(table) ?? new BatchReader(table);
    readers.set(table, reader);
    return reader;
  }

  /**
   * Like `Table.batchGet`. An item that several callers request is parsed once, so callers must not change its value.
   * Throws if an item of this caller cannot be parsed.
   */
  async batchGet<L extends readonly ItemRead<unknown>[]>(...reads: L): Promise<ReadValues<L>> {
    const waiting: WaitingReads = { reads, ...Promise.withResolvers<readonly (() => unknown)[]>() };
    if (this.#waiting.push(waiting) === 1) setImmediate(() => void this.#readWaiting());
    const parsers = await waiting.promise;
    return parsers.map((parse) => parse()) as never;
  }

  async get<T, P, K>(entity: Entity<T, P, K>, key: P & K): Promise<Stored<T> | undefined> {
    const [value] = await this.batchGet(itemOf(entity, key));
    return value;
  }

  async #readWaiting(): Promise<void> {
    const callers = this.#waiting;
    this.#waiting = [];
    try {
      const parsed = new Map<Record<string, unknown>, Map<ItemRead<unknown>['fromItem'], unknown>>();
      const parsers = await this.#table.batchGet(
        ...callers.flatMap(({ reads }) =>
          reads.map(({ key, fromItem }): ItemRead<{ parse: () => unknown }> => ({
            key,
            fromItem: (item, now) => ({ parse: () => parseOnce(parsed, item, now, fromItem), _r: 0 }),
          })),
        ),
      );
      let position = 0;
      for (const { reads, resolve } of callers) {
        const parsersOfCaller = parsers.slice(position, position + reads.length);
        position += reads.length;
        resolve(parsersOfCaller.map((stored) => () => stored?.parse()));
      }
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
  }
}

function parseOnce(
  parsed: Map<Record<string, unknown>, Map<ItemRead<unknown>['fromItem'], unknown>>,
  item: Record<string, unknown>,
  now: number,
  fromItem: ItemRead<unknown>['fromItem'],
): unknown {
  const values = parsed.get(item) ?? new Map<ItemRead<unknown>['fromItem'], unknown>();
  parsed.set(item, values);
  if (!values.has(fromItem)) values.set(fromItem, fromItem(item, now));
  return values.get(fromItem);
}
