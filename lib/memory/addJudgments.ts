import { isDeepStrictEqual } from 'node:util';
import { type Capability, combine } from '../app/capability.ts';
import type { Log } from '../app/endpoint.ts';
import { findWritableDocument, requireWritable } from '../content/documentScope.ts';
import { findOrganization } from '../directory/organizations.ts';
import { endJob } from '../jobs/jobStore.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { tableWith } from '../table/storeCapability.ts';
import { insert, replace, type Table } from '../table/table.ts';
import { embedders, type Embedders } from './embedders.ts';
import { startEmbedding, startModelChange } from './embeddingJobs.ts';
import { EmbeddingStore, vectorsOp } from './embeddingStore.ts';
import { embedJudgments } from './embedJudgments.ts';
import { JudgmentEntity } from './entities.ts';
import { needsModelChange } from './rules/embeddingModels.ts';
import { type Judgment, type JudgmentLocation, type NewJudgment, problemOf, toJudgment } from './rules/judgments.ts';
import * as logMessages from '../observability/logMessages.ts';

export interface IdentifiedJudgment {
  readonly recordId: string;
  readonly sent: NewJudgment;
}

interface AddCall {
  /** Id of the job that embeds the judgments when the call cannot. */
  readonly jobId: string;
  readonly now: number;
  readonly log: Log;
}

export interface AddedJudgment {
  readonly success: boolean;
  readonly id: string;
  readonly message: string;
}

interface WrittenJudgment {
  readonly judgment: Stored<Judgment>;
  readonly message: string;
}

const PARALLEL_WRITES = 16;
const NOT_EMBEDDED = ' Searches find it after the embedding model has answered.';

/** Adds judgments with their vectors. */
export class JudgmentWriter {
  readonly #table: Table;
  readonly #embeddings: EmbeddingStore;
  readonly #embedders: Embedders;

  constructor(table: Table, models: Embedders) {
    this.#table = table;
    this.#embeddings = new EmbeddingStore(table);
    this.#embedders = models;
  }

  /**
   * Adds judgments to an organization or a document, over those with the same ids. Ids are distinct. An invalid
   * judgment fails alone.
   */
  async add(
    tenant: string,
    location: JudgmentLocation,
    judgments: readonly IdentifiedJudgment[],
    call: AddCall,
  ): Promise<AddedJudgment[]> {
    const valid = judgments.filter(({ sent }) => problemOf(sent, call.now) === undefined);
    const messages = valid.length > 0 ? await this.#addValid(tenant, location, valid, call) : new Map<string, string>();
    return judgments.map(({ recordId, sent }) => {
      const problem = problemOf(sent, call.now);
      return { success: problem === undefined, id: recordId, message: problem ?? messages.get(recordId) ?? '' };
    });
  }

  /**
   * Adds judgments and returns a message for each id. The embedding job is written before the judgments and removed
   * when all of them have vectors, so a crash leaves no judgment without vectors.
   */
  async #addValid(
    tenant: string,
    location: JudgmentLocation,
    judgments: readonly IdentifiedJudgment[],
    { jobId, now, log }: AddCall,
  ): Promise<Map<string, string>> {
    const drafts = judgments.map(({ recordId, sent }) => toJudgment(sent, recordId, location, now));
    const [state, before] = await Promise.all([
      this.#embeddings.getState(tenant),
      this.#embeddings.getJudgments(tenant, drafts),
      this.#table.write([startEmbedding(tenant, jobId, drafts, now)]),
    ]);
    const written = new Map<string, WrittenJudgment>();
    const [{ made, failure, unavailableModel }] = await Promise.all([
      embedJudgments(this.#embedders, state, drafts),
      inParallel([...drafts.entries()], PARALLEL_WRITES, async ([index, draft]) => {
        const isDated = judgments[index]?.sent.createdAt !== undefined;
        written.set(draft.recordId, await this.#write(tenant, draft, isDated, before[index]));
      }),
      state ? undefined : this.#embeddings.createState(tenant, this.#embedders.current.model),
    ]);
    for (const { model, embedded } of made) {
      await inParallel(embedded, PARALLEL_WRITES, async (one) => {
        const { judgment = { ...one.judgment, _r: 1 } } = written.get(one.judgment.recordId) ?? {};
        await this.#table.write([vectorsOp(tenant, model, { ...one, judgment })]);
      });
    }
    const isComplete = failure === undefined && unavailableModel === undefined;
    if (isComplete) await this.#table.write([endJob(tenant, jobId)]);
    else log.warn(logMessages.judgmentEmbeddingDelayed, { error: failure, model: unavailableModel });
    if (needsModelChange(state, this.#embedders.current.model)) await startModelChange(this.#table, tenant, now, log);
    const suffix = isComplete ? '' : NOT_EMBEDDED;
    return new Map([...written].map(([recordId, { message }]) => [recordId, message + suffix]));
  }

  /**
   * Writes a judgment over the stored one. A single write costs half of a transaction. Throws ABORTED when other calls
   * keep writing it.
   */
  async #write(
    tenant: string,
    draft: Judgment,
    isDated: boolean,
    before: Stored<Judgment> | undefined,
  ): Promise<WrittenJudgment> {
    let isFirst = true;
    return retryOnConflict(async () => {
      const stored = isFirst ? before : await this.#table.get(JudgmentEntity, { tenant, ...draft });
      isFirst = false;
      // A judgment that is sent again without a time keeps its time.
      const judgment = stored && !isDated ? { ...draft, createdAt: stored.createdAt } : draft;
      const message = stored ? 'Judgment updated.' : 'Judgment added.';
      if (stored && isSame(judgment, stored)) return { judgment: stored, message };
      const value = { tenant, ...judgment };
      const outcome = await this.#table.write([
        stored ? replace(JudgmentEntity, value, stored._r) : insert(JudgmentEntity, value),
      ]);
      return outcome === 'done' ? { judgment: { ...judgment, _r: (stored?._r ?? 0) + 1 }, message } : 'conflict';
    });
  }
}

function isSame(judgment: Judgment, { _r, ...stored }: Stored<Judgment>): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(judgment)), JSON.parse(JSON.stringify(stored)));
}

export const addJudgments = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'PutItem', 'DeleteItem']), embedders },
  (opened): Pick<JudgmentWriter, 'add'> => new JudgmentWriter(opened.table, opened.embedders),
);

/**
 * Finds the organization or the document to add judgments to. Throws INVALID_ARGUMENT for an unknown organization,
 * NOT_FOUND for an unknown document and FAILED_PRECONDITION when one is disabled.
 */
export type FindJudgmentLocation = (
  tenant: string,
  named: { readonly organizationId: string; readonly documentId?: string | undefined },
) => Promise<JudgmentLocation>;

export const findJudgmentLocation: Capability<FindJudgmentLocation> = /* @__PURE__ */ combine(
  { findDocument: findWritableDocument, organizations: findOrganization },
  ({ findDocument, organizations }): FindJudgmentLocation =>
    async (tenant, { organizationId, documentId }) => {
      if (documentId !== undefined) {
        const { scope } = await findDocument(tenant, { organizationId, documentId });
        return { organizationKey: scope.organizationKey, organizationId, documentKey: scope.documentKey, documentId };
      }
      const organization = await organizations.require(tenant, organizationId);
      requireWritable({ organization });
      return { organizationKey: organization.internalId, organizationId };
    },
);
