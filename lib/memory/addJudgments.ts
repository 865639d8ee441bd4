import { isDeepStrictEqual } from 'node:util';
import { type Capability, combine } from '../app/capability.ts';
import { findWritableSelection } from '../content/documentScope.ts';
import { endJob } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { tableWith } from '../table/storeCapability.ts';
import { insertOrReplace, type Table } from '../table/table.ts';
import { type Embedders, embedders } from './embedders.ts';
import { startEmbedding, startModelChange } from './embeddingJobs.ts';
import { EmbeddingStore, vectorsOp } from './embeddingStore.ts';
import { embedJudgments } from './embedJudgments.ts';
import { JudgmentEntity } from './entities.ts';
import { needsModelChange } from './rules/embeddingModels.ts';
import {
  findJudgmentFault,
  type Judgment,
  type JudgmentLocation,
  type NewJudgment,
  toJudgment,
} from './rules/judgments.ts';

export interface IdentifiedJudgment {
  readonly recordId: string;
  readonly sent: NewJudgment;
}

interface AddCall {
  /** The job embeds the judgments (turns their texts into vectors) if this call cannot. */
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
   * Adds judgments and returns a result for each. Ids must be distinct. A stored judgment with the same id is replaced.
   * An invalid judgment fails, and the others are added.
   */
  async add(
    tenant: string,
    location: JudgmentLocation,
    judgments: readonly IdentifiedJudgment[],
    call: AddCall,
  ): Promise<AddedJudgment[]> {
    const valid = judgments.filter(({ sent }) => findJudgmentFault(sent, call.now) === undefined);
    const messages = valid.length > 0 ? await this.#addValid(tenant, location, valid, call) : new Map<string, string>();
    return judgments.map(({ recordId, sent }) => {
      const fault = findJudgmentFault(sent, call.now);
      return { success: fault === undefined, id: recordId, message: fault ?? messages.get(recordId) ?? '' };
    });
  }

  /**
   * The embedding job is written before the judgments, and removed after all of them have vectors. If the call ends
   * earlier, the job embeds them.
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
    const [{ vectors, failure, unavailableModel }] = await Promise.all([
      embedJudgments(this.#embedders, state, drafts),
      inParallel(drafts, PARALLEL_WRITES, async (draft, index) => {
        written.set(draft.recordId, await this.#write(tenant, draft, judgments[index]?.sent, before[index]));
      }),
      state ? undefined : this.#embeddings.createState(tenant, this.#embedders.current.model),
    ]);
    for (const { model, embedded } of vectors) {
      await inParallel(embedded, PARALLEL_WRITES, async (vectorsOfJudgment) => {
        const draft = vectorsOfJudgment.judgment;
        const { judgment = { ...draft, _r: 1 } } = written.get(draft.recordId) ?? {};
        await this.#table.write([vectorsOp(tenant, model, { ...vectorsOfJudgment, judgment })]);
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
   * One by one: a write in a transaction costs twice as much. Throws ABORTED if other calls keep writing the same
   * judgment.
   */
  async #write(
    tenant: string,
    draft: Judgment,
    sent: NewJudgment | undefined,
    before: Stored<Judgment> | undefined,
  ): Promise<WrittenJudgment> {
    let isFirst = true;
    return retryOnConflict(async () => {
      const stored = isFirst ? before : await this.#table.get(JudgmentEntity, { tenant, ...draft });
      isFirst = false;
      const judgment = stored && sent?.createdAt === undefined ? { ...draft, createdAt: stored.createdAt } : draft;
      // A stored judgment with a generated id comes from an earlier try of the same request.
      const message = stored && sent?.recordId !== undefined ? 'Judgment updated.' : 'Judgment added.';
      if (stored && isSame(judgment, stored)) return { judgment: stored, message };
      const value = { tenant, ...judgment };
      return this.#table.tryWrite([insertOrReplace(JudgmentEntity, value, stored)], {
        judgment: { ...judgment, _r: (stored?._r ?? 0) + 1 },
        message,
      });
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
 * Throws INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown document, and FAILED_PRECONDITION if
 * the organization or the document cannot be changed.
 */
export type FindJudgmentLocation = (
  tenant: string,
  reference: { readonly organizationId: string; readonly documentId?: string | undefined },
) => Promise<JudgmentLocation>;

export const findJudgmentLocation: Capability<FindJudgmentLocation> = /* @__PURE__ */ combine(
  { find: findWritableSelection },
  ({ find }): FindJudgmentLocation =>
    async (tenant, reference) => {
      const { organization, document } = await find(tenant, reference);
      return {
        organizationKey: organization.internalId,
        organizationId: organization.organizationId,
        documentKey: document?.internalId,
        documentId: document?.documentId,
      };
    },
);
