import { inParallel } from '../shared/inParallel.ts';
import { Retries } from './retryOnConflict.ts';
import { inTransactions, type Table, type WriteOp } from './table.ts';

export interface Decision<R> {
  readonly result: R;
  readonly ops: readonly WriteOp[];
}

export interface EachOptions<I, S, R> {
  readonly table: Table;
  readonly items: readonly I[];
  /** `attempt` counts from 1. Only attempt 1 may refuse the whole call, because later ones follow writes. */
  readonly read: (items: readonly I[], attempt: number) => Promise<readonly S[]>;
  /** Runs again with a new state after a conflict. */
  readonly decide: (item: I, state: S) => Decision<R>;
  readonly conflicted: (item: I) => R;
  /** Further operations, for each attempt of a transaction. */
  readonly addToTransaction?: (changing: readonly { readonly item: I; readonly state: S; readonly result: R }[]) => {
    readonly ops: readonly WriteOp[];
    readonly onWritten: () => void;
  };
}

const EAGER_TRIES = 3;
const PARALLEL = 4;

interface Planned<I, S, R> extends Decision<R> {
  readonly item: I;
  readonly state: S;
}

/**
 * Reads all items of a call, decides about each, and writes in transactions. The writes of one item are in one
 * transaction. Returns the results in the order of the items.
 *
 * After a conflict, repeats this for the items of the failed transaction, for up to 8 s. Each item that conflicted then
 * has its own transaction.
 */
export async function writeEach<I, S, R>(options: EachOptions<I, S, R>): Promise<R[]> {
  const results = new Map<I, R>();
  let together: readonly I[] = options.items;
  let alone: readonly I[] = [];
  let retries: Retries | undefined;
  for (let attempt = 1; together.length + alone.length > 0; attempt++) {
    const items = [...together, ...alone];
    const states = await options.read(items, attempt);
    const planned = items.map((item, index): Planned<I, S, R> => {
      const state = states[index] as S;
      return { item, state, ...options.decide(item, state) };
    });
    const batches = [
      ...inTransactions(planned.slice(0, together.length)),
      ...inTransactions(planned.slice(together.length), { most: 1 }),
    ];
    const retryTogether: I[] = [];
    const retryAlone: I[] = [];
    await inParallel(batches, PARALLEL, async (plans) => {
      const changing = plans.filter(({ ops }) => ops.length > 0);
      const addition = changing.length > 0 ? options.addToTransaction?.(changing) : undefined;
      const outcome = await options.table.write([...plans.flatMap((plan) => plan.ops), ...(addition?.ops ?? [])]);
      if (outcome === 'done') {
        addition?.onWritten();
        for (const plan of plans) results.set(plan.item, plan.result);
        return;
      }
      const owners = plans.flatMap((plan) => plan.ops.map(() => plan));
      const conflicting = new Set(outcome.conflicts.map((index) => owners[index]));
      for (const plan of plans) (conflicting.has(plan) ? retryAlone : retryTogether).push(plan.item);
    });
    const hasConflicts = retryTogether.length + retryAlone.length > 0;
    retries ??= new Retries();
    if (hasConflicts && attempt >= EAGER_TRIES && !(await retries.next())) {
      for (const item of [...retryTogether, ...retryAlone]) results.set(item, options.conflicted(item));
      break;
    }
    together = retryTogether;
    alone = retryAlone;
  }
  return options.items.map((item) => results.get(item) as R);
}
