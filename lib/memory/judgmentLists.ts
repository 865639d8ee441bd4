import { building, type Capability } from '../app/capability.ts';
import { findListing } from '../content/listDocuments.ts';
import { openTable } from '../table/table.ts';
import { JudgmentReader, type JudgmentScope } from './judgmentReader.ts';

/** Read judgments by time. */
export const readJudgments: Capability<JudgmentReader> = {
  grants: [
    { resource: 'table', actions: ['BatchGetItem'] },
    { resource: 'index/gsi1', actions: ['Query'] },
    { resource: 'index/gsi2', actions: ['Query'] },
    { resource: 'index/gsi3', actions: ['Query'] },
    { resource: 'index/gsi4', actions: ['Query'] },
  ],
  env: ['TABLE_NAME'],
  open: (env) => new JudgmentReader(openTable(env)),
};

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
      return { tenant, organization, document: document?.place.document };
    };
  },
});
