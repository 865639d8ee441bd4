import { calendarOf } from './rules/calendar.ts';
import { filteredValues } from './rules/filters.ts';
import type { Judgment } from './rules/judgments.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { insert, advance, replace, type Table, type WriteOp } from '../table/table.ts';
import {
  type EmbeddingState,
  EmbeddingStateEntity,
  JudgmentEntity,
  type JudgmentRef,
  type JudgmentVector,
  JudgmentVectorEntity,
  listingOf,
  vectorsOf,
} from './entities.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** A judgment with its vectors, as it was when they were made. */
export interface EmbeddedJudgment {
  readonly judgment: Stored<Judgment>;
  readonly review: Float32Array;
  readonly content?: Float32Array | undefined;
}

/** Some judgments of a tenant, and where the next ones begin; undefined at the end. */
export interface JudgmentsPage {
  readonly judgments: Stored<Judgment>[];
  readonly next: string | undefined;
}

/** Four digits say as much as a similarity of four digits tells, and take three bytes instead of six. */
const DIGITS = 4;
const PARALLEL = 8;

/** The vectors of judgments, and by which model a tenant's judgments are searched. */
export class EmbeddingStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** By which model a tenant's judgments are searched; undefined while it has had none. */
  async state(tenant: string): Promise<Stored<EmbeddingState> | undefined> {
    return this.#table.get(EmbeddingStateEntity, { tenant });
  }

  /** Says with the first judgment by which model its tenant's are searched, unless somebody else just has. */
  async beginState(tenant: string, model: string): Promise<void> {
    await this.#table.write([insert(EmbeddingStateEntity, { tenant, model })]);
  }

  /** Changes the state as it was read; false when somebody else did. */
  async changeState(tenant: string, state: EmbeddingState, revision: number): Promise<boolean> {
    return (await this.#table.write([replace(EmbeddingStateEntity, { tenant, ...state }, revision)])) === 'done';
  }

  /** The judgments as they are, undefined for those that are gone. */
  async byRefs(tenant: string, refs: readonly JudgmentRef[]): Promise<(Stored<Judgment> | undefined)[]> {
    return this.#table.getMany(
      JudgmentEntity,
      refs.map((ref) => ({ tenant, ...ref })),
    );
  }

  /** A page of all judgments of a tenant, the latest first, but of those only that have no vectors of a model as they are now. */
  async pending(
    tenant: string,
    model: string,
    options: { limit: number; after?: string | undefined },
  ): Promise<JudgmentsPage> {
    const { judgments, next } = await this.#page(tenant, options);
    const vectors = await this.#table.getMany(
      JudgmentVectorEntity,
      judgments.map((judgment) => ({ tenant, model, ...judgment })),
    );
    return { judgments: judgments.filter(({ _r }, index) => (vectors[index]?._r ?? 0) < _r), next };
  }

  /**
   * Writes the vectors that a model made of judgments, unless there are some of a later state of them. What of the judgments is gone by then
   * gets none: whoever removed it may have been there before.
   */
  async putVectors(tenant: string, model: string, embedded: readonly EmbeddedJudgment[]): Promise<void> {
    await inParallel(
      embedded,
      PARALLEL,
      async (one) => void (await this.#table.write([vectorsOp(tenant, model, one)])),
    );
    const judgments = embedded.map(({ judgment }) => judgment);
    const there = await this.byRefs(tenant, judgments);
    await this.#table.removeKeys(
      judgments
        .filter((_judgment, index) => !there[index])
        .map((judgment) => JudgmentVectorEntity.key({ tenant, model, ...judgment })),
    );
  }

  /** Removes the vectors that a model made, of some of the tenant's judgments; gives where to go on, undefined at the end. */
  async removeVectors(
    tenant: string,
    model: string,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ next: string | undefined }> {
    const { judgments, next } = await this.#page(tenant, options);
    await this.#table.removeKeys(judgments.map((judgment) => JudgmentVectorEntity.key({ tenant, model, ...judgment })));
    return { next };
  }

  async #page(tenant: string, options: { limit: number; after?: string | undefined }): Promise<JudgmentsPage> {
    const { index, partition } = listingOf({ tenant });
    const { keys, next } = await this.#table.queryIndex(index, partition, { ...options, descending: true });
    const judgments = await this.#table.getByKeys(JudgmentEntity, keys);
    return { judgments: judgments.filter((judgment) => judgment !== undefined), next };
  }
}

/** The operation that writes the vectors of a judgment, unless there are some of a later state of it. */
export function vectorsOp(tenant: string, model: string, { judgment, review, content }: EmbeddedJudgment): WriteOp {
  const { organizationKey, documentKey, recordId, createdAt, _r } = judgment;
  const { decision, judgeType, contentType, reviewerId } = filteredValues(judgment);
  const { year, month, day } = calendarOf(createdAt);
  const vectors: JudgmentVector = {
    vectorsOf: vectorsOf(tenant, model),
    vOrganization: organizationKey,
    vDocument: documentKey,
    vDecision: decision,
    vJudgeType: judgeType,
    // No search asks for an empty one, which an index would not take.
    vContentType: contentType === '' ? undefined : contentType,
    vReviewerId: reviewerId,
    vYear: year,
    vMonth: month,
    vDay: day,
    vAt: createdAt,
    reviewVector: rounded(review),
    contentVector: content && rounded(content),
  };
  return advance(JudgmentVectorEntity, { tenant, organizationKey, documentKey, recordId, model, ...vectors }, _r);
}

function rounded(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(DIGITS)));
}

/** Read judgments to embed, and write and remove vectors. */
export const writesEmbeddings = /* @__PURE__ */ storeCapability(
  EmbeddingStore,
  ['GetItem', 'BatchGetItem', 'PutItem', 'BatchWriteItem'],
  ['gsi3'],
);
