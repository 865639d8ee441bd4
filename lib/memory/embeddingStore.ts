import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import {
  insert,
  type PageOptions,
  putUnlessNewer,
  type QueryPage,
  replace,
  type Table,
  type WriteOp,
} from '../table/table.ts';
import type { Embedded } from './embedJudgments.ts';
import {
  EmbeddingStateEntity,
  JudgmentEntity,
  type JudgmentRef,
  type JudgmentVector,
  JudgmentVectorEntity,
  listingOf,
  vectorsOf,
} from './entities.ts';
import { calendarOf } from './rules/calendar.ts';
import type { EmbeddingState } from './rules/embeddingModels.ts';
import { filteredValues } from './rules/filters.ts';
import type { Judgment } from './rules/judgments.ts';

/** Significant digits of stored vectors. More would not help: similarities in answers have four. */
const DIGITS = 4;
const PARALLEL_WRITES = 8;

export class EmbeddingStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async getState(tenant: string): Promise<Stored<EmbeddingState> | undefined> {
    return this.#table.get(EmbeddingStateEntity, { tenant });
  }

  async createState(tenant: string, model: string): Promise<void> {
    await this.#table.write([insert(EmbeddingStateEntity, { tenant, model })]);
  }

  async replaceState(tenant: string, state: EmbeddingState, revision: number): Promise<void> {
    await this.#table.write([replace(EmbeddingStateEntity, { tenant, ...state }, revision)]);
  }

  async getJudgments(tenant: string, refs: readonly JudgmentRef[]): Promise<(Stored<Judgment> | undefined)[]> {
    return this.#table.getMany(
      JudgmentEntity,
      refs.map((ref) => ({ tenant, ...ref })),
    );
  }

  /** A page, latest first, of the judgments whose current revision has no vectors of the model. */
  async listWithoutVectors(tenant: string, model: string, options: PageOptions): Promise<QueryPage<Judgment>> {
    const { values: judgments, next } = await this.#page(tenant, options);
    const vectors = await this.#table.getMany(
      JudgmentVectorEntity,
      judgments.map((judgment) => ({ tenant, model, ...judgment })),
    );
    return { values: judgments.filter(({ _r }, index) => (vectors[index]?._r ?? 0) < _r), next };
  }

  /**
   * Does not replace vectors of a later revision. Then removes vectors of judgments that were deleted since they were
   * read.
   */
  async putVectors(tenant: string, model: string, embedded: readonly Embedded<Stored<Judgment>>[]): Promise<void> {
    await inParallel(embedded, PARALLEL_WRITES, async (vectorsOfJudgment) => {
      await this.#table.write([vectorsOp(tenant, model, vectorsOfJudgment)]);
    });
    const judgments = embedded.map(({ judgment }) => judgment);
    const existing = await this.getJudgments(tenant, judgments);
    await this.#removeVectors(
      tenant,
      model,
      judgments.filter((_judgment, index) => !existing[index]),
    );
  }

  async purgeVectors(tenant: string, model: string, options: PageOptions): Promise<string | undefined> {
    const { values: judgments, next } = await this.#page(tenant, options);
    await this.#removeVectors(tenant, model, judgments);
    return next;
  }

  async #removeVectors(tenant: string, model: string, judgments: readonly Judgment[]): Promise<void> {
    await this.#table.removeKeys(judgments.map((judgment) => JudgmentVectorEntity.key({ tenant, model, ...judgment })));
  }

  async #page(tenant: string, options: PageOptions): Promise<QueryPage<Judgment>> {
    const { index, partition } = listingOf({ tenant });
    const { keys, next } = await this.#table.queryIndex(index, partition, { ...options, descending: true });
    const judgments = await this.#table.getByKeys(JudgmentEntity, keys);
    return { values: judgments.filter((judgment) => judgment !== undefined), next };
  }
}

/** Conflicts if vectors of a later revision are stored. */
export function vectorsOp(
  tenant: string,
  model: string,
  { judgment, review, content }: Embedded<Stored<Judgment>>,
): WriteOp {
  const { organizationKey, documentKey, recordId, createdAt, _r } = judgment;
  const { decision, judgeType, contentType, reviewerId } = filteredValues(judgment);
  const { year, month, day } = calendarOf(createdAt);
  const vectors: JudgmentVector = {
    vectorsOf: vectorsOf(tenant, model),
    vOrganization: organizationKey,
    vDocument: documentKey,
    vDecision: decision,
    vJudgeType: judgeType,
    // An index key cannot be empty, so an empty content type is left out. No search filters by it.
    vContentType: contentType === '' ? undefined : contentType,
    vReviewerId: reviewerId,
    vYear: year,
    vMonth: month,
    vDay: day,
    vAt: createdAt,
    reviewVector: round(review),
    contentVector: content && round(content),
  };
  return putUnlessNewer(
    JudgmentVectorEntity,
    { tenant, organizationKey, documentKey, recordId, model, ...vectors },
    _r,
  );
}

function round(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(DIGITS)));
}

export const writeEmbeddings = /* @__PURE__ */ storeCapability(
  EmbeddingStore,
  ['GetItem', 'BatchGetItem', 'PutItem', 'BatchWriteItem'],
  ['gsi3'],
);
