import { inParallel } from '../shared/inParallel.ts';

interface Timed {
  readonly at: number;
}

export interface TimedPage<T extends Timed> {
  readonly values: readonly T[];
  readonly isLast: boolean;
}

interface Source<T extends Timed> {
  readonly pages: AsyncIterator<TimedPage<T>>;
  waiting: readonly T[];
  isDone: boolean;
}

const PARALLEL_PAGES = 8;

/**
 * Merges listings by time, latest first unless `oldestFirst`. Each listing must have this order. Reads the next page of
 * a listing only when all of its values were yielded.
 */
export async function* mergeByTime<T extends Timed>(
  listings: readonly AsyncIterable<TimedPage<T>>[],
  oldestFirst: boolean,
): AsyncGenerator<T[]> {
  const sign = oldestFirst ? -1 : 1;
  const sources = listings.map((listing): Source<T> => ({
    pages: listing[Symbol.asyncIterator](),
    waiting: [],
    isDone: false,
  }));
  for (;;) {
    await inParallel(
      sources.filter(({ waiting }) => waiting.length === 0),
      PARALLEL_PAGES,
      fill,
    );
    // Later pages of a listing have nothing before its last value.
    const limits = sources.flatMap(({ waiting, isDone }) => (isDone ? [] : sign * (waiting.at(-1)?.at ?? 0)));
    const limit = Math.max(...limits);
    const ready: T[] = [];
    for (const source of sources) {
      const rest = source.waiting.findIndex(({ at }) => sign * at < limit);
      const count = rest === -1 ? source.waiting.length : rest;
      ready.push(...source.waiting.slice(0, count));
      source.waiting = source.waiting.slice(count);
    }
    if (ready.length > 0) yield ready.sort((a, b) => sign * (b.at - a.at));
    if (limits.length === 0) return;
  }
}

async function fill<T extends Timed>(source: Source<T>): Promise<void> {
  while (source.waiting.length === 0 && !source.isDone) {
    const page = await source.pages.next();
    source.waiting = page.done === true ? [] : page.value.values;
    source.isDone = page.done === true || page.value.isLast;
  }
}
