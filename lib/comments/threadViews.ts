import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { dict } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { defineEntity } from '../table/entity.ts';
import { sortableNumber } from '../table/keys.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insertOrReplace, type Table } from '../table/table.ts';
import { viewPart, type ViewTimes, withViews } from './rules/readState.ts';
import type { Thread } from './rules/threads.ts';

/** A document never uses the number of a thread again, also for a thread that is added again under the same id. */
export const ThreadViewsEntity = defineEntity({
  type: 'ThreadViews',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'When a user last saw the threads of a document, by their numbers. One item for 32 threads',
  schema: z.object({ userId: z.string(), part: z.number(), views: z.record(z.string(), z.number()) }),
  pk: (of: DocumentScope) => recordPartition(of, 'VIEWS'),
  sk: (key: { userId: string; part: number }) => [key.userId, sortableNumber(key.part)],
});

type NumberedThread = Pick<Thread, 'annotationNumber'>;

const PARALLEL = 8;
const ITEMS_PER_PAGE = 1_000;

/** Returns when each user last viewed the thread, in epoch ms. One BatchGet for 100 items. */
export async function readViews(
  table: Table,
  of: readonly { readonly scope: DocumentScope; readonly userId: string; readonly thread: NumberedThread }[],
): Promise<(number | undefined)[]> {
  const items = await table.getMany(
    ThreadViewsEntity,
    of.map(({ scope, userId, thread: { annotationNumber = 0 } }) => ({
      ...scope,
      userId,
      part: viewPart(annotationNumber),
    })),
  );
  return of.map(({ thread }, index) => viewOf(items[index]?.views, thread));
}

/** Returns a function for the view of a thread of the document, in epoch ms. */
export async function readViewsOfDocument(
  table: Table,
  scope: DocumentScope,
  userId: string,
): Promise<(thread: NumberedThread) => number | undefined> {
  const views: (readonly [string, number])[] = [];
  const read = (after: string | undefined) =>
    table.query(ThreadViewsEntity, scope, { prefix: [userId], limit: ITEMS_PER_PAGE, after });
  for await (const { values } of pages(read)) for (const item of values) views.push(...Object.entries(item.views));
  const all = dict(views);
  return (thread) => viewOf(all, thread);
}

function viewOf(views: ViewTimes | undefined, { annotationNumber }: NumberedThread): number | undefined {
  return annotationNumber === undefined ? undefined : views?.[annotationNumber];
}

/** Writes nothing for a thread that has not changed since its stored view. Throws ABORTED after too many conflicts. */
export async function addViews(
  table: Table,
  scope: DocumentScope,
  userId: string,
  threads: readonly Thread[],
  { viewedAt, now }: { readonly viewedAt: number; readonly now: number },
): Promise<void> {
  const parts = [...Map.groupBy(threads, ({ annotationNumber = 0 }) => viewPart(annotationNumber))];
  const keyOf = (part: number) => ({ ...scope, userId, part });
  const read = await table.getMany(
    ThreadViewsEntity,
    parts.map(([part]) => keyOf(part)),
  );
  await inParallel(parts, PARALLEL, async ([part, ofPart], index) => {
    let isFirst = true;
    await retryOnConflict(async () => {
      const stored = isFirst ? read[index] : await table.get(ThreadViewsEntity, keyOf(part));
      isFirst = false;
      const before = stored?.views ?? {};
      const views = withViews(before, ofPart, viewedAt);
      if (views === before) return 'done';
      return table.tryWrite([insertOrReplace(ThreadViewsEntity, { ...keyOf(part), views }, stored, now)]);
    });
  });
}
