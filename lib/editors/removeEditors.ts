import * as z from 'zod';
import { newId } from '../shared/ids.ts';
import type { ItemOutcome } from '../shared/results.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import type { Key, Stored } from '../table/entity.ts';
import { beginJob, READS_SETTLED_MS } from '../jobs/jobStore.ts';
import { remove, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  beforeEditor,
  type Editor,
  EditorEntity,
  EditorItems,
  EditorPartEntity,
  EditorUpdateEntity,
} from './entities.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** How many items are removed at a time, and how much of them is read. */
const SOME = { limit: 500, bytes: 4_000_000 };

/** What is left of an editor whose head is gone: the data of a job. */
export const LeftEditor = z.object({ editorId: z.string(), internalId: z.string() });
export type LeftEditor = z.output<typeof LeftEditor>;

/** The editors of a document, as a part of what is removed with it. */
export const editorPart = {
  entities: [EditorEntity, EditorUpdateEntity, EditorPartEntity],
  /** Removes some of a document's editors, whatever they are; gives whether nothing is left. Nobody can reach the document any more. */
  async removeSome(table: Table, scope: DocumentScope, _clock: () => number): Promise<boolean> {
    const { values, next } = await table.query(EditorItems, scope, SOME);
    const PK = EditorItems.partition(scope);
    await table.removeKeys(values.map(({ SK }): Key => ({ PK, SK })));
    return next === undefined;
  },
} as const;

/** Removes what is left of an editor whose head is gone, and nothing of one that was added under its id since. */
export async function removeLeftEditor(
  table: Table,
  scope: DocumentScope,
  { editorId, internalId }: LeftEditor,
): Promise<void> {
  const PK = EditorItems.partition(scope);
  let after: string | undefined;
  do {
    const page = await table.query(EditorItems, scope, { ...SOME, prefix: [editorId], after });
    const left = page.values.filter(
      (item) =>
        (item.kind === 'head' ? item.head : item.kind === 'update' ? item.update : item).internalId === internalId,
    );
    await table.removeKeys(left.map(({ SK }): Key => ({ PK, SK })));
    after = page.next;
  } while (after !== undefined);
}

/** Removes editors. */
export class EditorRemover {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Removes editors by their ids, which are distinct; an unknown one fails alone. They are gone at once, and can be added again; what is left
   * of them is removed by a job, which begins when nobody writes beneath them any more.
   */
  async remove(
    { scope: scope, document: { documentId } }: DocumentContext,
    editorIds: readonly string[],
    now: number,
  ): Promise<ItemOutcome[]> {
    return writeEach<string, Stored<Editor> | undefined, ItemOutcome>({
      table: this.#table,
      items: editorIds,
      read: (ids) =>
        this.#table.getMany(
          EditorEntity,
          ids.map((editorId) => ({ ...scope, editorId })),
        ),
      decide: (editorId, head) => {
        if (!head) return { result: { success: false, message: 'No CRDT data found for this editor ID.' }, ops: [] };
        const { organizationKey, documentKey } = scope;
        const data = { organizationKey, documentKey, documentId, editor: { editorId, internalId: head.internalId } };
        return {
          result: { success: true, message: 'CRDT data deleted.' },
          ops: [
            remove(EditorEntity, { ...scope, editorId }, head._r),
            beginJob(
              scope.tenant,
              { jobId: newId('job', now), kind: 'removeRecords', data, dueAt: now + READS_SETTLED_MS },
              now,
            ),
          ],
        };
      },
      conflicted: () => ({ success: false, message: 'CRDT data is being changed by another request.' }),
    });
  }

  /** The ids of the first editors of a document, from the end, and whether there are more. One call for each, as their data lies in between. */
  async some(scope: DocumentScope, limit: number): Promise<{ editorIds: string[]; more: boolean }> {
    const editorIds: string[] = [];
    let after: string | undefined;
    for (;;) {
      const {
        values: [item],
      } = await this.#table.query(EditorItems, scope, { limit: 1, descending: true, after });
      if (!item) return { editorIds, more: false };
      if (item.kind === 'head') {
        if (editorIds.length === limit) return { editorIds, more: true };
        editorIds.push(item.head.editorId);
      }
      after = beforeEditor(item.of);
    }
  }
}

/** Remove editors. */
export const removeEditors = /* @__PURE__ */ storeCapability(EditorRemover, [
  'BatchGetItem',
  'Query',
  'PutItem',
  'DeleteItem',
]);
