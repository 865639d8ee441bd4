import { type Capability, combine } from '../app/capability.ts';
import type { Log } from '../observability/log.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { type Embedders, embedders } from './embedders.ts';
import { startModelChange } from './embeddingJobs.ts';
import { EmbeddingStateEntity } from './entities.ts';
import { type FindScope, findScope, JudgmentLists, type JudgmentScope } from './judgmentLists.ts';
import { type JudgmentSearch, NearestJudgments, type RankedJudgment } from './nearestJudgments.ts';
import { needsModelChange } from './rules/embeddingModels.ts';
import { lastDays, toTimeRange } from './rules/filters.ts';
import { type JudgmentResponse, toJudgmentResponse } from './rules/judgments.ts';
import { lexical } from './rules/lexical.ts';
import { idsOf, type SearchRequest } from './rules/searchRequests.ts';
import { similarityOf } from './rules/similarity.ts';

const DEFAULT_LIMIT = 10;

interface Call {
  readonly now: number;
  readonly log: Log;
}

export class SemanticSearch {
  readonly #table: Table;
  readonly #embedders: Embedders;
  readonly #findScope: FindScope;
  readonly #lists: JudgmentLists;
  readonly #nearest: NearestJudgments;

  constructor(table: Table, embedders: Embedders, find: FindScope) {
    this.#table = table;
    this.#embedders = embedders;
    this.#findScope = find;
    this.#lists = new JudgmentLists(table);
    this.#nearest = new NearestJudgments(table, this.#lists);
  }

  /**
   * Returns the results, and how many judgments the scope has without filters. Throws like `FindScope`, and UNAVAILABLE
   * if the query cannot be embedded or the vector index is not ready.
   */
  async search(
    tenant: string,
    request: SearchRequest,
    call: Call,
  ): Promise<{ results: JudgmentResponse[]; totalInScope: number }> {
    const { query = '', embeddingType: index = 'review', limit = DEFAULT_LIMIT, recencyDays } = request;
    const { annotationId, dateRange, excludeDocumentIds, ...filters } = request.filters ?? {};
    const range = dateRange && toTimeRange(dateRange);
    const isByMeaning = annotationId === undefined && recencyDays === undefined;
    const [found, searchNearest] = await Promise.all([
      this.#findScope(tenant, idsOf(request)),
      isByMeaning ? this.#embed(tenant, query, call) : undefined,
    ]);
    const scope: JudgmentScope = { ...found, excludedDocumentIds: excludeDocumentIds };
    const find = async (): Promise<JudgmentResponse[]> => {
      if (searchNearest) {
        const nearest = await searchNearest({ scope, index, filters, range, limit });
        return nearest.map(({ judgment, distance }) => toJudgmentResponse(judgment, similarityOf(distance)));
      }
      if (annotationId === undefined) {
        const days = lastDays(recencyDays ?? 1, call.now);
        const latest = await this.#lists.latest(scope, { filters, range: days }, limit);
        return latest.map((judgment) => toJudgmentResponse(judgment));
      }
      // A listing of a thread needs its organization, even if the scope is the whole API key.
      const { organizationId } = request;
      const { organizationKey = '' } =
        scope.organizationKey === undefined ? await this.#findScope(tenant, { organizationId }) : scope;
      const { judgments } = await this.#lists.ofThread(
        { ...scope, organizationKey },
        annotationId,
        { filters, range },
        limit,
      );
      return judgments.map((judgment) => toJudgmentResponse(judgment));
    };
    const [results, totalInScope] = await Promise.all([find(), this.#lists.count(scope)]);
    return { results, totalInScope };
  }

  /**
   * Embeds the query with the model that searches use. If this deployment cannot call it, the returned function
   * compares texts with the lexical embedding, until a job has changed the tenant's searches.
   */
  async #embed(
    tenant: string,
    query: string,
    { now, log }: Call,
  ): Promise<(search: JudgmentSearch) => Promise<RankedJudgment[]>> {
    const state = await this.#table.get(EmbeddingStateEntity, { tenant }, { eventual: true });
    const { current } = this.#embedders;
    if (needsModelChange(state, current.model)) await startModelChange(this.#table, tenant, now, log);
    const embedder = this.#embedders.of(state?.model ?? current.model);
    if (!embedder) return (search) => this.#nearest.byText(search, query, lexical);
    const [vector = new Float32Array()] = await embedder.embed([query]);
    return (search) => this.#nearest.byVector({ ...search, model: embedder.model, vector });
  }
}

const searchVectorIndexes: Capability<undefined> = {
  grants: [
    { resource: 'index/review', actions: ['SearchVectors'] },
    { resource: 'index/content', actions: ['SearchVectors'] },
  ],
  env: [],
  open: () => undefined,
};

export const semanticSearch = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'PutItem'], ['gsi1', 'gsi2', 'gsi3', 'gsi4']),
    searchVectorIndexes,
    embedders,
    findScope,
  },
  (opened) => new SemanticSearch(opened.table, opened.embedders, opened.findScope),
);
