import { inParallel } from '../shared/inParallel.ts';
import { Retries } from './retryOnConflict.ts';
import { inTransactions, type Table, type WriteOp } from './table.ts';

/** What is to happen to one item of a list call: its entry in the answer, and the writes that make it true. */
export interface Decision<R> {
  readonly result: R;
  readonly ops: readonly WriteOp[];
}

export interface EachOptions<I, S, R> {
  readonly table: Table;
  /** Distinct items. */
  readonly items: readonly I[];
  /** What is stored of these items, in their order. */
  readonly read: (items: readonly I[]) => Promise<readonly S[]>;
  /** The rule: pure, and run again on what is read anew when somebody else wrote in between. */
  readonly decide: (item: I, state: S) => Decision<R>;
  /** The result of an item that others kept changing. */
  readonly conflicted: (item: I) => R;
  /**
   * Operations that belong to a transaction as a whole, for those of its items that it changes. Called again for a transaction that is tried
   * again; where only one of these was in conflict, with its items together.
   */
  readonly together?: (changing: readonly { readonly item: I; readonly result: R }[]) => {
    readonly ops: readonly WriteOp[];
    /** Called when they are written. */ readonly written: () => void;
  };
}

/** Tries without a pause: most conflicts are over at once. */
const EAGER_TRIES = 3;
const PARALLEL = 4;

interface Planned<I, R> extends Decision<R> {
  readonly item: I;
}

/**
 * Carries out a list call: reads, decides per item in pure code, and writes in transactions of at most 30 operations
 * and 4 MB, each conditioned on what was read; the writes of one item are never split. The items of a cancelled transaction are
 * read and decided again, those that conflicted in a transaction of their own, for up to 3 s; then they fail alone.
 * Gives the results in the order of the items.
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
    const innocent: I[] = [];
    const guilty: I[] = [];
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
      for (const plan of plans) (conflicting.has(plan) ? guilty : innocent).push(plan.item);
    });
    const again = innocent.length + guilty.length > 0 && (attempt < EAGER_TRIES || (await retries.next()));
    if (!again) for (const item of [...innocent, ...guilty]) results.set(item, options.conflicted(item));
    together = again ? innocent : [];
    alone = again ? guilty : [];
  }
  return options.items.map((item) => results.get(item) as R);
}
