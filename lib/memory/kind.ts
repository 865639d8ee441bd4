import { defineContentKind } from '../content/kind.ts';
import { JudgmentEntity } from './entities.ts';
import { eraseReviewers } from './eraseReviewers.ts';
import { purgeDocumentJudgments, purgeOrganizationJudgments } from './purgeJudgments.ts';

const removeReviewers = { entities: [JudgmentEntity], isEarly: true, removeUsers: eraseReviewers };

export const judgmentKind = defineContentKind({
  name: 'judgment',
  // Judgments have listings of their own. They belong to the whole API key.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  purge: { document: purgeDocumentJudgments, organization: purgeOrganizationJudgments },
  hint: 'none',
  remove: removeReviewers,
  erase: removeReviewers,
});
