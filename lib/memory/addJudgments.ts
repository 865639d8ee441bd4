import { isDeepStrictEqual } from 'node:util';
import { building, type Capability } from '../app/capability.ts';
import type { Log } from '../app/endpoint.ts';
import { faultOf, type Judgment, type JudgmentPlace, type NewJudgment, toJudgment } from './rules/judgments.ts';
import { inParallel } from '../shared/inParallel.ts';
import { type Embedders, embeds } from './embedder.ts';
import { needsChange } from './embeddingModels.ts';
import { beginEmbedding, beginModelChange } from './pendingJudgments.ts';
import { makeVectors } from './makeVectors.ts';
import { findWritableDocument, requireWritable } from '../content/documentScope.ts';
import type { Stored } from '../table/entity.ts';
import { endJob } from '../jobs/jobStore.ts';
import { findOrganization } from '../directory/organizations.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, openTable, replace, type Table } from '../table/table.ts';
import { EmbeddingStore, vectorsOp } from './embeddings.ts';
import { JudgmentEntity } from './entities.ts';

/** A judgment to add, with its id. */
export interface IdentifiedJudgment {
  readonly recordId: string;
  readonly sent: NewJudgment;
}

export interface JudgmentAdded {
  readonly success: boolean;
  readonly id: string;
  readonly message: string;
}

/** When judgments are added, and under which id what is left of it goes on. */
export interface AddingJudgments {
  readonly jobId: string;
  readonly now: number;
  readonly log: Log;
}

const PARALLEL = 16;

/** Adds judgments with their vectors. */
export class JudgmentWriter {
  readonly #table: Table;
  readonly #embeddings: EmbeddingStore;
  readonly #embedders: Embedders;

  constructor(table: Table, embedders: Embedders) {
    this.#table = table;
    this.#embeddings = new EmbeddingStore(table);
    this.#embedders = embedders;
  }

  /**
   * Adds judgments to an organization or a document of it, over those with the same ids; ids are distinct. A job makes what vectors are missing
   * in the end: it is there before the judgments are, and goes when nothing is missing, so that no judgment is left without by a crash. The sweeper
   * finds it a minute later: a model that does not answer is best left alone as long.
   */
  async add(
    tenant: string,
    scope: JudgmentPlace,
    judgments: readonly IdentifiedJudgment[],
    { jobId, now, log }: AddingJudgments,
  ): Promise<JudgmentAdded[]> {
    const faults = new Map(
      judgments.flatMap(({ recordId, sent }) =>
        faultOf(sent, now) === undefined ? [] : [[recordId, faultOf(sent, now) as string]],
      ),
    );
    const sound = judgments.filter(({ recordId }) => !faults.has(recordId));
    const written =
      sound.length === 0 ? new Map<string, Written>() : await this.#addSound(tenant, scope, sound, { jobId, now, log });
    return judgments.map(({ recordId }): JudgmentAdded => {
      const fault = faults.get(recordId);
      const { message = fault ?? '' } = written.get(recordId) ?? {};
      return { success: fault === undefined, id: recordId, message };
    });
  }

  async #addSound(
    tenant: string,
    scope: JudgmentPlace,
    judgments: readonly IdentifiedJudgment[],
    { jobId, now, log }: AddingJudgments,
  ): Promise<Map<string, Written>> {
    const refs = judgments.map(({ recordId }) => ({
      organizationKey: scope.organizationKey,
      documentKey: scope.documentKey,
      recordId,
    }));
    const [state, before] = await Promise.all([
      this.#embeddings.state(tenant),
      this.#embeddings.byRefs(tenant, refs),
      this.#table.write([beginEmbedding(tenant, { jobId, judgments: refs }, now)]),
    ]);
    const [vectors, written] = await Promise.all([
      makeVectors(
        this.#embedders,
        state,
        judgments.map(({ recordId, sent: { decision, reasoning, content } }) => ({
          recordId,
          decision,
          reasoning,
          content,
        })),
      ),
      this.#write(
        tenant,
        judgments.map(({ recordId, sent }, index) => ({
          draft: toJudgment(sent, recordId, scope, now),
          isDated: sent.createdAt !== undefined,
          stored: before[index],
        })),
      ),
      state ? undefined : this.#embeddings.beginState(tenant, this.#embedders.current.model),
    ]);
    for (const { model, embedded } of vectors.made) {
      await inParallel(embedded, PARALLEL, async ({ judgment: { recordId }, review, content }) => {
        const { judgment } = written.get(recordId) as Written;
        await this.#table.write([vectorsOp(tenant, model, { judgment, review, content })]);
      });
    }
    const isComplete = vectors.failure === undefined && vectors.unasked === undefined;
    if (isComplete) await this.#table.write([endJob(tenant, jobId)]);
    else {
      log.warn('judgments are embedded later', { error: vectors.failure, model: vectors.unasked });
      for (const one of written.values())
        one.message += ' It is found by its meaning once the embedding model has answered.';
    }
    if (needsChange(state, this.#embedders.current.model)) await changeModel(this.#table, tenant, now, log);
    return written;
  }

  /** Writes judgments one by one, which costs half of what a transaction does; ABORTED when others keep writing the same one. */
  async #write(
    tenant: string,
    judgments: readonly {
      readonly draft: Judgment;
      readonly isDated: boolean;
      readonly stored: Stored<Judgment> | undefined;
    }[],
  ): Promise<Map<string, Written>> {
    const written = new Map<string, Written>();
    await inParallel(judgments, PARALLEL, async ({ draft, isDated, stored: first }) => {
      let known = { stored: first, isFresh: true };
      const one = await retryOnConflict(async (): Promise<Written | 'conflict'> => {
        const stored = known.isFresh ? known.stored : await this.#table.get(JudgmentEntity, { tenant, ...draft });
        known = { stored, isFresh: false };
        // What was decided before and is sent again without a time was decided then.
        const judgment = stored && !isDated ? { ...draft, createdAt: stored.createdAt } : draft;
        if (stored && isSame(judgment, stored)) return { judgment: stored, message: 'Judgment updated.' };
        const outcome = await this.#table.write([
          stored
            ? replace(JudgmentEntity, { tenant, ...judgment }, stored._r)
            : insert(JudgmentEntity, { tenant, ...judgment }),
        ]);
        if (outcome !== 'done') return 'conflict';
        return stored
          ? { judgment: { ...judgment, _r: stored._r + 1 }, message: 'Judgment updated.' }
          : { judgment: { ...judgment, _r: 1 }, message: 'Judgment added.' };
      });
      written.set(draft.recordId, one);
    });
    return written;
  }
}

interface Written {
  readonly judgment: Stored<Judgment>;
  message: string;
}

function isSame(judgment: Judgment, { _r: _, ...stored }: Stored<Judgment>): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(judgment)), JSON.parse(JSON.stringify(stored)));
}

/** Begins the job that changes a tenant's model to that of the setting, unless it is there; the sweeper finds it. Never fails: the next request tries again. */
export async function changeModel(table: Table, tenant: string, now: number, log: Log): Promise<void> {
  await table
    .write([beginModelChange(tenant, now)])
    .catch((error: unknown) => log.error('change of model not begun', { error }));
}

/** Add judgments. */
export const addJudgments: Capability<Pick<JudgmentWriter, 'add'>> = /* @__PURE__ */ building([embeds], {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'PutItem', 'DeleteItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new JudgmentWriter(openTable(env), embeds.open(env)),
});

/** Finds where judgments are to lie: an organization, or a document of it. INVALID_ARGUMENT, NOT_FOUND and FAILED_PRECONDITION as for other content. */
export type FindJudgmentPlace = (
  tenant: string,
  named: { readonly organizationId: string; readonly documentId?: string | undefined },
) => Promise<JudgmentPlace>;

export const findJudgmentPlace: Capability<FindJudgmentPlace> = /* @__PURE__ */ building(
  [findWritableDocument, findOrganization],
  {
    grants: [],
    env: [],
    open: (env) => {
      const [findPlace, organizations] = [findWritableDocument.open(env), findOrganization.open(env)];
      return async (tenant, { organizationId, documentId }) => {
        if (documentId !== undefined) {
          const { scope: scope } = await findPlace(tenant, { organizationId, documentId });
          return { organizationKey: scope.organizationKey, organizationId, documentKey: scope.documentKey, documentId };
        }
        const organization = await organizations.require(tenant, organizationId);
        requireWritable({ organization });
        return { organizationKey: organization.internalId, organizationId };
      };
    },
  },
);
