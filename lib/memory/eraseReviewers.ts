import { eraseFromJudgment, type Judgment } from './rules/judgments.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { JudgmentEntity } from './entities.ts';

/** How many judgments are looked at with one query, and in how many at a time something changes. */
const LOOKED_AT = 1_000;
const PARALLEL = 8;

/** Who goes, with what was made up to when (epoch ms). */
interface LeavingReviewers {
  readonly userIds: ReadonlySet<string>;
  readonly until: number;
  /** Only what lies in these documents, by their internal ids; everywhere in the organization when left out. */
  readonly documents?: ReadonlySet<string> | undefined;
}

/**
 * Takes from the judgments of an organization who the people are that leave or are erased, but for their ids: what was decided stays. Stops at `deadline`
 * (epoch ms) with where to go on. Done again it does no harm. ABORTED when others keep changing the same judgment.
 */
export async function eraseReviewers(
  table: Table,
  scope: OrganizationScope,
  leaving: LeavingReviewers,
  from: string | undefined,
  clock: () => number,
  deadline: number,
): Promise<{ readonly after: string } | 'done'> {
  const { documents } = leaving;
  const isConcerned = (judgment: Judgment) =>
    (documents === undefined || (judgment.documentKey !== undefined && documents.has(judgment.documentKey))) &&
    eraseFromJudgment(judgment, leaving) !== judgment;
  let after = from;
  do {
    const page = await table.query(JudgmentEntity, scope, { limit: LOOKED_AT, after });
    await inParallel(page.values.filter(isConcerned), PARALLEL, (judgment) =>
      retryOnConflict(async () => {
        const stored = await table.get(JudgmentEntity, { ...scope, ...judgment });
        const erased = stored && eraseFromJudgment(stored, leaving);
        if (!stored || !erased || erased === stored) return 'done';
        return (await table.write([replace(JudgmentEntity, { ...scope, ...erased }, stored._r)])) === 'done'
          ? 'done'
          : 'conflict';
      }).then(() => undefined),
    );
    after = page.next;
  } while (after !== undefined && clock() <= deadline);
  return after === undefined ? 'done' : { after };
}
