import { inParallel } from '../shared/inParallel.ts';
import { Retries } from './retryOnConflict.ts';
import { inTransactions, type Table, type WriteOp } from './table.ts';

/** The decision about one item of a list call: its result in the answer, and its writes. */
export interface Decision<R> {
  readonly result: R;
  readonly ops: readonly WriteOp[];
}

export interface EachOptions<I, S, R> {
  readonly table: Table;
  /** Distinct items. */
  readonly items: readonly I[];
  /** Reads the stored state of these items, in their order. */
  readonly read: (items: readonly I[]) => Promise<readonly S[]>;
  /** A pure rule. It runs again on a new state after a conflict. */
  readonly decide: (item: I, state: S) => Decision<R>;
  /** The result of an item that conflicted until the end. */
  readonly conflicted: (item: I) => R;
  /** Returns the operations that a transaction needs besides those of its items. Called for each try of a transaction, with the items that it changes. */
  readonly together?: (changing: readonly { readonly item: I; readonly result: R }[]) => {
    readonly ops: readonly WriteOp[];
    /** Called after the transaction has succeeded. */
    readonly written: () => void;
  };
}

/** Tries without a pause, because most conflicts end at once. */
const EAGER_TRIES = 3;
const PARALLEL = 4;

interface Planned<I, R> extends Decision<R> {
  readonly item: I;
}

/**
 * Runs a list call: reads, decides per item, and writes in transactions of at most 30 operations and 4 MB, conditioned on what was read. The writes of an
 * item are never split. The items of a failed transaction are read and decided again for up to 3 s, each conflicting item in its own transaction.
 * Returns the results in the order of the items.
 */
export async function writeEach<I, S, R>(options: EachOptions<I, S, R>): Promise<R[]> {
  const results = new Map<I, R>();
  let together: readonly I[] = options.items;
  let alone: readonly I[] = [];
  const retries = new Retries();
  for (let attempt = 1; together.length + alone.length > 0; attempt++) {
    const items = [...together, ...alone];
    const states = await options.read(items);
    const planned = items.map((item, index): Planned<I, R> => ({ item, ...options.decide(item, states[index] as S) }));
    const batches = [
      ...inTransactions(planned.slice(0, together.length)),
      ...inTransactions(planned.slice(together.length), { most: 1 }),
    ];
    const retryTogether: I[] = [];
    const retryAlone: I[] = [];
    await inParallel(batches, PARALLEL, async (plans) => {
      const changing = plans.filter(({ ops }) => ops.length > 0);
      const shared = changing.length > 0 ? options.together?.(changing) : undefined;
      const outcome = await options.table.write([...plans.flatMap((plan) => plan.ops), ...(shared?.ops ?? [])]);
      if (outcome === 'done') {
        shared?.written();
        for (const plan of plans) results.set(plan.item, plan.result);
        return;
      }
      const owners = plans.flatMap((plan) => plan.ops.map(() => plan));
      const conflicting = new Set(outcome.conflicts.map((index) => owners[index]));
      for (const plan of plans) (conflicting.has(plan) ? retryAlone : retryTogether).push(plan.item);
    });
    const again = retryTogether.length + retryAlone.length > 0 && (attempt < EAGER_TRIES || (await retries.next()));
    if (!again) for (const item of [...retryTogether, ...retryAlone]) results.set(item, options.conflicted(item));
    together = again ? retryTogether : [];
    alone = again ? retryAlone : [];
  }
  return options.items.map((item) => results.get(item) as R);
}
