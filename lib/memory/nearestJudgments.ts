import type { VectorIndexName } from '../app/capability.ts';
import { slicesOf } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Key, Stored } from '../table/entity.ts';
import type { Table } from '../table/table.ts';
import {
  isInDocuments,
  JudgmentEntity,
  judgmentKeyOf,
  JudgmentVectorEntity,
  vectorKeyOf,
  vectorsOf,
} from './entities.ts';
import { type JudgmentLists, type JudgmentScope, type ListedJudgment, scopesInIndexes } from './judgmentLists.ts';
import { type CalendarPeriod, periodsOf, splitPeriod } from './rules/calendar.ts';
import { ALL_TIME, type JudgmentFilters, type TimeRange } from './rules/filters.ts';
import { contentText, type Judgment, reviewText } from './rules/judgments.ts';
import { distance } from './rules/similarity.ts';
import { vectorAttributes, type VectorFilter, vectorPartition, vectorTime } from './vectorIndexes.ts';
import { searchVectors } from './vectorSearch.ts';

export interface JudgmentSearch {
  readonly scope: JudgmentScope;
  readonly index: VectorIndexName;
  readonly filters: JudgmentFilters;
  readonly range?: TimeRange | undefined;
  readonly limit: number;
}

interface VectorJudgmentSearch extends JudgmentSearch {
  readonly model: string;
  readonly vector: Float32Array;
}

export interface RankedJudgment {
  readonly judgment: Stored<Judgment>;
  readonly distance: number;
}

interface Candidate extends ListedJudgment {
  readonly distance: number;
}

interface PeriodSearch {
  readonly scope: JudgmentScope;
  readonly period: CalendarPeriod;
  readonly limit: number;
}

const MAX_HITS = 100;
const MAX_SEARCHES = 64;
/** More documents are searched together first: in their organization, whose other hits are left out. */
const MAX_DOCUMENTS_APART = 4;
const PARALLEL_SEARCHES = 8;
const VECTORS_PER_READ = 500;

const periodFilters = { year: 'vYear', month: 'vMonth', day: 'vDay' } as const satisfies Record<string, VectorFilter>;

export class NearestJudgments {
  readonly #table: Table;
  readonly #lists: JudgmentLists;

  constructor(table: Table, lists: JudgmentLists) {
    this.#table = table;
    this.#lists = lists;
  }

  /**
   * Returns the judgments with the nearest vectors, nearest first.
   *
   * The index cannot compare time ranges or several documents, so a few calendar periods that cover the range are
   * searched, in each document or in the whole scope. A period that may have a nearer vector than the farthest result
   * is searched again: by its documents, with a higher limit, or by smaller periods. At last, all its vectors are read
   * and ranked.
   */
  async byVector(search: VectorJudgmentSearch): Promise<RankedJudgment[]> {
    const { scope, limit, range = ALL_TIME } = search;
    const ranking = new Ranking(limit, (candidates) => this.#lists.read(scope, candidates));
    const firstLimit = Math.min(MAX_HITS, 2 * limit);
    const areTogether = (scope.documentKeys?.length ?? 0) > MAX_DOCUMENTS_APART;
    let pending = (areTogether ? [scope] : scopesInIndexes(scope)).flatMap((part) =>
      periodsOf(range).map((period) => ({ scope: part, period, limit: areTogether ? MAX_HITS : firstLimit })),
    );
    let searches = 0;
    /**
     * Searches that returned as many hits as their limit. Vectors that such a search did not return are at least
     * `reach` from the query.
     */
    let limited: { readonly period: PeriodSearch; readonly reach: number }[] = [];
    while (pending.length > 0) {
      searches += pending.length;
      await inParallel(pending, PARALLEL_SEARCHES, async (period) => {
        const hits = await this.#searchPeriod(search, period);
        ranking.add(
          hits.filter(({ key, at }) => at >= range.from && at <= range.to && isInDocuments(key, scope.documentKeys)),
        );
        if (hits.length === period.limit) limited.push({ period, reach: hits.at(-1)?.distance ?? 0 });
      });
      pending = [];
      const farthest = await ranking.farthest();
      const unsure = limited.filter(({ reach }) => reach < farthest);
      limited = limited.filter(({ reach }) => reach >= farthest);
      for (const { period } of unsure) {
        const parts = await this.#split(period, firstLimit);
        if (parts.length > 0 && searches + pending.length + parts.length <= MAX_SEARCHES) pending.push(...parts);
        else await this.#rankPeriod(search, period, ranking);
      }
    }
    return ranking.best();
  }

  /** Embeds the texts of judgments with `embed`, for a deployment that cannot call the tenant's model. */
  async byText(
    { scope, index, filters, range, limit }: JudgmentSearch,
    query: string,
    embed: (text: string) => Float32Array,
  ): Promise<RankedJudgment[]> {
    const textOf = index === 'review' ? reviewText : contentText;
    const vector = embed(query);
    const ranking = new Ranking(limit, (candidates) => this.#lists.read(scope, candidates));
    for await (const page of this.#lists.pages(scope, { filters, range })) {
      const judgments = await this.#table.getByKeys(
        JudgmentEntity,
        page.map(({ key }) => key),
      );
      for (const [position, listed] of page.entries()) {
        const judgment = judgments[position];
        const text = judgment && textOf(judgment);
        if (text !== undefined) ranking.add([{ ...listed, distance: distance(vector, embed(text)) }]);
      }
    }
    return ranking.best();
  }

  async #searchPeriod(
    { index, filters, model, vector }: VectorJudgmentSearch,
    { scope, period: { unit, name }, limit }: PeriodSearch,
  ): Promise<Candidate[]> {
    const conditions: Partial<Record<VectorFilter, string | undefined>> = {
      vOrganization: scope.organizationKey,
      vDocument: scope.documentKeys?.length === 1 ? scope.documentKeys[0] : undefined,
      vDecision: filters.decision,
      vJudgeType: filters.judgeType,
      vContentType: filters.contentType,
      vReviewerId: filters.reviewerId,
      ...(unit !== 'all' && { [periodFilters[unit]]: name }),
    };
    const where = { [vectorPartition]: vectorsOf(scope.tenant, model), ...conditions };
    const hits = await searchVectors(this.#table, index, { vector: Array.from(vector), where, limit });
    return hits.map(({ key, attributes, distance: far }) => ({
      key: judgmentKeyOf(key),
      at: attributes[vectorTime] as number,
      distance: far,
    }));
  }

  /** Returns searches that find more together: by document, with a higher limit, or by the parts of the period. */
  async #split({ scope, period, limit }: PeriodSearch, firstLimit: number): Promise<PeriodSearch[]> {
    const scopes = scopesInIndexes(scope);
    if (scopes.length > 1) return scopes.map((part) => ({ scope: part, period, limit: firstLimit }));
    const periods = limit < MAX_HITS ? [period] : await this.#splitPeriod(scope, period);
    return periods.map((part) => ({ scope, period: part, limit: MAX_HITS }));
  }

  async #splitPeriod(scope: JudgmentScope, period: CalendarPeriod): Promise<CalendarPeriod[]> {
    if (period.unit !== 'all') return splitPeriod(period);
    const [from, to] = await Promise.all(
      [true, false].map(async (oldestFirst) => {
        for await (const [first] of this.#lists.pages(scope, { range: period, oldestFirst })) return first?.at;
        return undefined;
      }),
    );
    return from === undefined || to === undefined ? [] : splitPeriod({ ...period, from, to });
  }

  async #rankPeriod(
    { index, filters, model, vector }: VectorJudgmentSearch,
    { scope, period: range }: PeriodSearch,
    ranking: Ranking,
  ): Promise<void> {
    for await (const page of this.#lists.pages(scope, { filters, range })) {
      for (const listed of slicesOf(page, VECTORS_PER_READ)) {
        const vectors = await this.#table.getByKeys(
          JudgmentVectorEntity,
          listed.map(({ key }) => vectorKeyOf(key, model)),
        );
        for (const [position, judgment] of listed.entries()) {
          const stored = vectors[position]?.[vectorAttributes[index]];
          if (stored) ranking.add([{ ...judgment, distance: distance(vector, stored) }]);
        }
      }
    }
  }
}

const identityOf = ({ PK, SK }: Key) => `${PK}\n${SK}`;

function compare(a: Candidate, b: Candidate): number {
  return a.distance - b.distance || b.at - a.at || (identityOf(a.key) < identityOf(b.key) ? -1 : 1);
}

type ReadCandidates = (candidates: readonly Candidate[]) => Promise<(Stored<Judgment> | undefined)[]>;

class Ranking {
  readonly #limit: number;
  readonly #read: ReadCandidates;
  readonly #candidates = new Map<string, Candidate>();
  readonly #judgments = new Map<string, Stored<Judgment> | undefined>();

  constructor(limit: number, read: ReadCandidates) {
    this.#limit = limit;
    this.#read = read;
  }

  add(candidates: readonly Candidate[]): void {
    for (const candidate of candidates) this.#candidates.set(identityOf(candidate.key), candidate);
  }

  async farthest(): Promise<number> {
    const best = await this.best();
    return best.length < this.#limit ? Infinity : (best.at(-1)?.distance ?? Infinity);
  }

  async best(): Promise<RankedJudgment[]> {
    const sorted = [...this.#candidates.values()].sort(compare);
    const best: RankedJudgment[] = [];
    while (sorted.length > 0 && best.length < this.#limit) {
      const next = sorted.splice(0, this.#limit - best.length);
      await this.#readJudgments(next.filter(({ key }) => !this.#judgments.has(identityOf(key))));
      for (const { key, distance: far } of next) {
        const judgment = this.#judgments.get(identityOf(key));
        if (judgment) best.push({ judgment, distance: far });
      }
    }
    return best;
  }

  async #readJudgments(candidates: readonly Candidate[]): Promise<void> {
    if (candidates.length === 0) return;
    const judgments = await this.#read(candidates);
    for (const [position, { key }] of candidates.entries()) this.#judgments.set(identityOf(key), judgments[position]);
  }
}
