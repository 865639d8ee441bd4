import type { OrganizationScope } from '../directory/folders/folders.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { JudgmentEntity } from './entities.ts';
import { eraseFromJudgment, type Judgment } from './rules/judgments.ts';

const PAGE_JUDGMENTS = 1_000;
const PARALLEL_WRITES = 8;

interface ErasedReviewers {
  readonly userIds: ReadonlySet<string>;
  /** Only judgments that were made up to this time (epoch ms) are changed. Later judgments keep the name and the address. */
  readonly removedAt: number;
  /**
   * The `documentKey` of each document whose judgments are changed. If undefined, all judgments of the organization are
   * changed.
   */
  readonly documents?: ReadonlySet<string> | undefined;
}

/**
 * Erases names and e-mail addresses of reviewers from the judgments of an organization. The judgments and the user ids
 * stay. Begins after the position `from`. Returns `done`, or stops after `deadline` (epoch ms) and returns the position
 * for the next call. Idempotent. Throws ABORTED if other writers keep changing the same judgment.
 */
export async function eraseReviewers(
  table: Table,
  scope: OrganizationScope,
  erased: ErasedReviewers,
  from: string | undefined,
  clock: () => number,
  deadline: number,
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
