import { isDeepStrictEqual } from 'node:util';
import { operationOf } from '../../lib/table/documentClient.ts';
import { type Command, LeanClient, type TableClient } from './leanClient.ts';
import type { MemoryTable } from './memoryTable.ts';
import type { Item } from './tableExpressions.ts';

type Outcome = { readonly answer: Item } | { readonly error: any };

/**
 * A table on the engine and in memory. It makes each call on both, and returns what the engine returns. Makes one call
 * at a time, because the order of parallel calls could differ.
 */
export class ComparedTable implements TableClient {
  readonly #engine = new LeanClient();
  readonly #memory: MemoryTable;
  readonly #differences: string[] = [];
  #lastCall: Promise<unknown> = Promise.resolve();

  constructor(memory: MemoryTable) {
    this.#memory = memory;
  }

  async send(command: Command): Promise<Item> {
    const call = this.#lastCall.then(() => this.#callBoth(command));
    this.#lastCall = call;
    const outcome = await call;
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }

  async #callBoth(command: Command): Promise<Outcome> {
    const operation = operationOf(command);
    const engine = await outcomeOf(this.#engine, command);
    // Only tests scan, and a scan in memory has no pages.
    if (operation === 'Scan') return engine;
    const [expected, actual] = [comparable(engine), comparable(await outcomeOf(this.#memory, command))];
    if (!isDeepStrictEqual(actual, expected))
      this.#differences.push(JSON.stringify({ operation, input: command.input, engine: expected, memory: actual }));
    return engine;
  }

  destroy(): void {
    this.#engine.destroy();
  }

  /** Throws if some answers of the two tables differed. */
  expectNoDifferences(): void {
    const [first] = this.#differences;
    if (first !== undefined)
      throw new Error(
        `${this.#differences.length} calls have another answer in memory than on the engine. The first: ${first.slice(0, 10_000)}`,
      );
  }
}

async function outcomeOf(client: TableClient, command: Command): Promise<Outcome> {
  try {
    return { answer: await client.send(command) };
  } catch (error) {
    return { error };
  }
}

/** Returns the parts of an outcome that both tables must have in common. */
function comparable(outcome: Outcome): unknown {
  if ('error' in outcome) {
    const { name, Item: item, CancellationReasons: reasons } = outcome.error;
    return { name, item, reasons: reasons?.map(({ Code }: { Code: string }) => Code) };
  }
  const { Item: item, Items: items, Count: count, Attributes: attributes } = outcome.answer;
  const { Responses: responses, SearchResults: nearest } = outcome.answer;
  return {
    item,
    items,
    count,
    attributes,
    responses: responses && Object.values<Item[]>(responses).map(inOrder),
    // The engine computes with fewer digits, and the order of equally near items is not defined.
    scores: nearest?.map(({ Score }: Item) => Score.toFixed(3)),
  };
}

/** Returns items in the order of their keys. The order of a batch read is not defined. */
function inOrder(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (`${a.PK} ${a.SK}` < `${b.PK} ${b.SK}` ? -1 : 1));
}
