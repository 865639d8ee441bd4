import { defineContentKind } from '../content/kind.ts';
import { JudgmentEntity } from './entities.ts';
import { eraseReviewers } from './eraseReviewers.ts';
import { purgeDocumentJudgments, purgeOrganizationJudgments } from './purgeJudgments.ts';

export const judgmentKind = defineContentKind({
  name: 'judgment',
  // Judgments have listings of their own. They belong to the whole API key.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  purge: { document: purgeDocumentJudgments, organization: purgeOrganizationJudgments },
  // Judgments keep the names of people who left.
  remove: 'none',
  erase: { entities: [JudgmentEntity], eraseOrganization: eraseReviewers },
});
