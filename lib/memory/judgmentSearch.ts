import type { VectorIndexName } from '../app/capability.ts';
import { partsOf, type Stretch, stretchesOf } from './rules/calendar.ts';
import { ALWAYS, type JudgmentFilters, type TimeRange } from './rules/filters.ts';
import { contentText, type Judgment, reviewText } from './rules/judgments.ts';
import { distance } from './rules/vectors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Key, Stored } from '../table/entity.ts';
import { JudgmentEntity, judgmentKeyOf, JudgmentVectorEntity, listingOf, vectorKeyOf, vectorsOf } from './entities.ts';
import { JudgmentReader, type JudgmentScope } from './judgmentReader.ts';
import { vectorAttributes, type VectorFilter, vectorPartition, vectorTime } from './vectorIndexes.ts';
import { searchVectors } from './vectorSearch.ts';

/** What is searched, and among what. */
export interface JudgmentSearch {
  readonly scope: JudgmentScope;
  readonly index: VectorIndexName;
  readonly filters: JudgmentFilters;
  readonly range?: TimeRange | undefined;
  readonly limit: number;
}

export interface FoundJudgment {
  readonly judgment: Stored<Judgment>;
  readonly distance: number;
}

/** A judgment that may be among those that are found. */
interface Candidate {
  readonly key: Key;
  readonly at: number;
  readonly distance: number;
}

/** Reads the judgments of candidates, undefined for those that are gone. */
type Reading = (candidates: readonly Candidate[]) => Promise<(Stored<Judgment> | undefined)[]>;

/** One search of the index: a stretch of time, and how many it gives. */
interface Step {
  readonly stretch: Stretch;
  readonly limit: number;
}

/** What DynamoDB gives at most in one search. */
const MOST_HITS = 100;
/** How many searches one request makes; what is open then is ranked exactly. */
const MOST_SEARCHES = 64;
const PARALLEL = 8;
/** How many vectors are read at a time. */
const AT_A_TIME = 500;

/** The nearest first; the latest first of those that are as near, so that the order is always the same. */
function byNearness(one: Candidate, other: Candidate): number {
  return one.distance - other.distance || other.at - one.at || (identity(one.key) < identity(other.key) ? -1 : 1);
}

const identity = ({ PK, SK }: Key) => `${PK}\n${SK}`;

/** Searches judgments by how alike they are to a text. */
export class JudgmentSearcher extends JudgmentReader {
  /**
   * The judgments whose vectors are nearest to one, by the vectors of a model. The index knows no ranges of time: it is searched in the few stretches of
   * the calendar that have all of the time which is asked for, and again in the parts of those that may hold something nearer than what was
   * found. What one search more than 64 would take, and a day that has more than one search gives, is read and ranked.
   */
  async nearest(search: JudgmentSearch, model: string, vector: Float32Array): Promise<FoundJudgment[]> {
    const { scope, limit, range = ALWAYS } = search;
    const best = new Best(limit, (candidates) => this.#read(scope, candidates));
    let open = stretchesOf(range).map((stretch): Step => ({ stretch, limit: Math.min(MOST_HITS, 2 * limit) }));
    let [searches, cut]: [number, { step: Step; reach: number }[]] = [0, []];
    while (open.length > 0) {
      searches += open.length;
      await inParallel(open, PARALLEL, async (step) => {
        const hits = await this.#hits(search, model, vector, step);
        best.add(hits.filter(({ at }) => at >= range.from && at <= range.to));
        if (hits.length === step.limit) cut.push({ step, reach: (hits.at(-1) as Candidate).distance });
      });
      const farthest = await best.farthest();
      const unsure = cut.filter(({ reach }) => reach < farthest);
      cut = cut.filter(({ reach }) => reach >= farthest);
      open = [];
      for (const { step } of unsure) {
        const finer =
          step.limit < MOST_HITS
            ? [{ ...step, limit: MOST_HITS }]
            : (await this.#parts(scope, step.stretch)).map((stretch): Step => ({ stretch, limit: MOST_HITS }));
        if (finer.length > 0 && searches + open.length + finer.length <= MOST_SEARCHES) open.push(...finer);
        else await this.#rank(search, model, vector, step.stretch, best);
      }
    }
    return best.found();
  }

  /** The same by an embedding that costs nothing, without any vectors: while there are none of a model that can be asked. */
  async nearestTexts(
    { scope, index, filters, range, limit }: JudgmentSearch,
    vector: Float32Array,
    embed: (text: string) => Float32Array,
  ): Promise<FoundJudgment[]> {
    const textOf = index === 'review' ? reviewText : contentText;
    const best = new Best(limit, (candidates) => this.#read(scope, candidates));
    for await (const page of this.list(listing(scope), { filters, range }, true)) {
      const judgments = await this.table.getByKeys(
        JudgmentEntity,
        page.map(({ key }) => key),
      );
      best.add(
        page.flatMap(({ key, at }, position) => {
          const judgment = judgments[position];
          const text = judgment && textOf(judgment);
          return text === undefined ? [] : [{ key, at, distance: distance(vector, embed(text)) }];
        }),
      );
    }
    return best.found();
  }

  /** What one search of the index gives. */
  async #hits(
    { scope, index, filters }: JudgmentSearch,
    model: string,
    vector: Float32Array,
    { stretch, limit }: Step,
  ): Promise<Candidate[]> {
    const conditions: Partial<Record<VectorFilter, string | undefined>> = {
      vOrganization: scope.organization?.organizationKey,
      vDocument: scope.documentKey,
      vDecision: filters.decision,
      vJudgeType: filters.judgeType,
      vContentType: filters.contentType,
      vReviewerId: filters.reviewerId,
      vYear: stretch.unit === 'year' ? stretch.name : undefined,
      vMonth: stretch.unit === 'month' ? stretch.name : undefined,
      vDay: stretch.unit === 'day' ? stretch.name : undefined,
    };
    const asked = Object.entries(conditions).filter(
      (condition): condition is [string, string] => condition[1] !== undefined,
    );
    const where = { [vectorPartition]: vectorsOf(scope.tenant, model), ...Object.fromEntries(asked) };
    const hits = await searchVectors(this.table, index, { vector: Array.from(vector), where, limit });
    return hits.map(({ key, attributes, distance: far }) => ({
      key: judgmentKeyOf(key),
      at: attributes[vectorTime] as number,
      distance: far,
    }));
  }

  /** The parts of a stretch; of all the time only those in which a scope has anything. */
  async #parts(scope: JudgmentScope, stretch: Stretch): Promise<Stretch[]> {
    if (stretch.unit !== 'all') return partsOf(stretch);
    const ends = await Promise.all(
      [false, true].map(async (descending) => {
        const { value } = await this.list(listing(scope), { range: stretch }, descending).next();
        return (value as Candidate[] | undefined)?.[0]?.at;
      }),
    );
    const [from, to] = ends;
    return from === undefined || to === undefined ? [] : partsOf({ ...stretch, from, to });
  }

  /** Ranks the judgments of a stretch by their vectors. */
  async #rank(
    { scope, index, filters }: JudgmentSearch,
    model: string,
    vector: Float32Array,
    stretch: Stretch,
    best: Best,
  ): Promise<void> {
    for await (const page of this.list(listing(scope), { filters, range: stretch }, true)) {
      for (let at = 0; at < page.length; at += AT_A_TIME) {
        const some = page.slice(at, at + AT_A_TIME);
        const vectors = await this.table.getByKeys(
          JudgmentVectorEntity,
          some.map(({ key }) => vectorKeyOf(key, model)),
        );
        best.add(
          some.flatMap((one, position): Candidate[] => {
            const stored = vectors[position]?.[vectorAttributes[index]];
            return stored ? [{ ...one, distance: distance(vector, stored) }] : [];
          }),
        );
      }
    }
  }

  async #read(scope: JudgmentScope, candidates: readonly Candidate[]): Promise<(Stored<Judgment> | undefined)[]> {
    return this.alive(
      scope,
      await this.table.getByKeys(
        JudgmentEntity,
        candidates.map(({ key }) => key),
      ),
    );
  }
}

function listing({ tenant, organization, documentKey }: JudgmentScope) {
  return listingOf({ tenant, organizationKey: organization?.organizationKey, documentKey });
}

/** The best candidates so far. Only those are read that are among them, each once. */
class Best {
  readonly #limit: number;
  readonly #read: Reading;
  readonly #candidates = new Map<string, Candidate>();
  readonly #known = new Map<string, Stored<Judgment> | undefined>();

  constructor(limit: number, read: Reading) {
    this.#limit = limit;
    this.#read = read;
  }

  add(candidates: readonly Candidate[]): void {
    for (const candidate of candidates) this.#candidates.set(identity(candidate.key), candidate);
  }

  /** How far the last of those is that are found; infinitely while there is room for more. */
  async farthest(): Promise<number> {
    const found = await this.found();
    return found.length < this.#limit ? Infinity : (found.at(-1) as FoundJudgment).distance;
  }

  async found(): Promise<FoundJudgment[]> {
    const sorted = [...this.#candidates.values()].sort(byNearness);
    const found: FoundJudgment[] = [];
    for (let at = 0; at < sorted.length && found.length < this.#limit;) {
      const some = sorted.slice(at, at + this.#limit - found.length);
      const unknown = some.filter(({ key }) => !this.#known.has(identity(key)));
      const judgments = unknown.length > 0 ? await this.#read(unknown) : [];
      for (const [position, { key }] of unknown.entries()) this.#known.set(identity(key), judgments[position]);
      found.push(
        ...some.flatMap(({ key, distance: far }) => {
          const judgment = this.#known.get(identity(key));
          return judgment ? [{ judgment, distance: far }] : [];
        }),
      );
      at += some.length;
    }
    return found;
  }
}
