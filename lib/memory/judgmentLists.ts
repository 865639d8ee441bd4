import { building, type Capability } from '../app/capability.ts';
import { findListing } from '../content/recordListing.ts';
import { JudgmentReader, type JudgmentScope } from './judgmentReader.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Read judgments by time. */
export const readJudgments = /* @__PURE__ */ storeCapability(
  JudgmentReader,
  ['BatchGetItem'],
  ['gsi1', 'gsi2', 'gsi3', 'gsi4'],
);

/** Finds where to look: INVALID_ARGUMENT when a named organization does not exist, NOT_FOUND when a document does not. */
export type FindScope = (
  tenant: string,
  named: { readonly organizationId?: string | undefined; readonly documentId?: string | undefined },
) => Promise<JudgmentScope>;

export const findScope: Capability<FindScope> = /* @__PURE__ */ building([findListing], {
  grants: [],
  env: [],
  open: (env) => {
    const find = findListing.open(env);
    return async (tenant, { organizationId, documentId }) => {
      if (organizationId === undefined) return { tenant };
      const { organization, document } = await find(tenant, { organizationId, documentId });
      return { tenant, organization, documentKey: document?.scope.documentKey };
    };
  },
});
