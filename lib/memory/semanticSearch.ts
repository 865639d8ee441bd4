import { building, type Capability } from '../app/capability.ts';
import { lexical } from './rules/lexical.ts';
import type { Log } from '../app/endpoint.ts';
import { type Embedders, embeds } from './embedder.ts';
import { needsChange } from './embeddingModels.ts';
import { openTable, type Table } from '../table/table.ts';
import { changeModel } from './addJudgments.ts';
import { EmbeddingStateEntity } from './entities.ts';
import { type FoundJudgment, JudgmentSearcher, type JudgmentSearch } from './judgmentSearch.ts';

/** A search whose text is understood: it only has to be told where to look. */
export type Understood = (search: JudgmentSearch) => Promise<FoundJudgment[]>;

/** Searches judgments by what a text means. */
export class Memory extends JudgmentSearcher {
  readonly #embedders: Embedders;

  constructor(table: Table, embedders: Embedders) {
    super(table);
    this.#embedders = embedders;
  }

  /**
   * Makes the vector of a text by the model that a tenant's judgments are searched by. Where that is one which cannot be asked any more, the texts of
   * judgments are compared themselves, by the embedding that asks nobody, until the setting's model has taken its place. UNAVAILABLE when
   * the model does not answer.
   */
  async understand(
    tenant: string,
    text: string,
    { now, log }: { readonly now: number; readonly log: Log },
  ): Promise<Understood> {
    const state = await this.table.get(EmbeddingStateEntity, { tenant }, { eventual: true });
    const { current } = this.#embedders;
    if (needsChange(state, current.model)) await changeModel(this.table, tenant, now, log);
    const embedder = this.#embedders.of(state?.model ?? current.model);
    if (!embedder) return (search) => this.nearestTexts(search, lexical(text), lexical);
    const [vector] = await embedder.embed([text]);
    return (search) => this.nearest(search, embedder.model, vector as Float32Array);
  }
}

/** Search judgments by what they mean, and read them by time. */
export const searchJudgments: Capability<Memory> = /* @__PURE__ */ building([embeds], {
  grants: [
    { resource: 'table', actions: ['GetItem', 'BatchGetItem', 'PutItem'] },
    { resource: 'index/gsi1', actions: ['Query'] },
    { resource: 'index/gsi2', actions: ['Query'] },
    { resource: 'index/gsi3', actions: ['Query'] },
    { resource: 'index/gsi4', actions: ['Query'] },
    { resource: 'index/review', actions: ['SearchVectors'] },
    { resource: 'index/content', actions: ['SearchVectors'] },
  ],
  env: ['TABLE_NAME'],
  open: (env) => new Memory(openTable(env), embeds.open(env)),
});
