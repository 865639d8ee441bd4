import type { RemovedUsers } from '../content/rules/removedUsers.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { JudgmentEntity } from './entities.ts';
import { eraseFromJudgment, type Judgment } from './rules/judgments.ts';

const PAGE_JUDGMENTS = 1_000;
const PARALLEL_WRITES = 8;

/** Judgments that were made after `removedAt` keep the name and the address. */
interface ErasedReviewers extends RemovedUsers {
  readonly documents?: ReadonlySet<string> | undefined;
}

/**
 * Erases names and e-mail addresses of reviewers, but not user ids. Returns `done`, or the position for the next call
 * at the end of the budget. Idempotent. Throws ABORTED if other writers keep changing the same judgment.
 */
export async function eraseReviewers(
  table: Table,
  scope: OrganizationScope,
  erased: ErasedReviewers,
  from: string | undefined,
  { clock, deadline }: PurgeBudget,
): Promise<{ readonly after: string } | 'done'> {
  const { documents } = erased;
  const isAffected = (judgment: Judgment) =>
    (!documents || documents.has(judgment.documentKey ?? '')) && eraseFromJudgment(judgment, erased) !== judgment;
  const erase = (judgment: Judgment) =>
    retryOnConflict(async () => {
      const stored = await table.get(JudgmentEntity, { ...scope, ...judgment });
      const changed = stored && eraseFromJudgment(stored, erased);
      if (!stored || !changed || changed === stored) return 'done';
      return table.tryWrite([replace(JudgmentEntity, { ...scope, ...changed }, stored._r)]);
    });
  const read = (after = from) => table.query(JudgmentEntity, scope, { limit: PAGE_JUDGMENTS, after });
  for await (const { values, next } of pages(read)) {
    await inParallel(values.filter(isAffected), PARALLEL_WRITES, erase);
    if (next !== undefined && clock() > deadline) return { after: next };
  }
  return 'done';
}
