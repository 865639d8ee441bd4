import * as z from 'zod';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { REQUESTS_ENDED_MS, startJob } from '../jobs/jobStore.ts';
import { newId } from '../shared/ids.ts';
import type { ItemOutcome } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { remove, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  beforeEditor,
  type Editor,
  EditorEntity,
  type EditorItem,
  EditorItems,
  EditorPartEntity,
  EditorUpdateEntity,
} from './entities.ts';
import { VersionStore } from './versions/versionStore.ts';

const PAGE = { limit: 500, bytes: 4_000_000 };
const LAST_ITEMS = { limit: 25, bytes: 250_000 };

export const DeletedEditor = z.object({ editorId: z.string(), internalId: z.string() });
export type DeletedEditor = z.output<typeof DeletedEditor>;

export const purgeEditors = {
  entities: [EditorEntity, EditorUpdateEntity, EditorPartEntity],
  async purge(table: Table, scope: DocumentScope): Promise<boolean> {
    const { values, next } = await table.query(EditorItems, scope, PAGE);
    await removeItems(table, scope, values);
    return next === undefined;
  },
} as const;

export async function purgeEditor(
  table: Table,
  scope: DocumentScope,
  { editorId, internalId }: DeletedEditor,
): Promise<void> {
  const options = { ...PAGE, prefix: [editorId] };
  for await (const { values } of pages((after) => table.query(EditorItems, scope, { ...options, after })))
    await removeItems(
      table,
      scope,
      values.filter(({ value }) => value.internalId === internalId),
    );
  const editor = { ...scope, editorId, internalId };
  const versions = new VersionStore(table);
  await versions.remove(editor, await versions.all(editor));
  await versions.purgeParts(editor);
}

async function removeItems(table: Table, scope: DocumentScope, items: readonly EditorItem[]): Promise<void> {
  const PK = EditorItems.partition(scope);
  await table.removeKeys(items.map(({ SK }) => ({ PK, SK })));
}

export class EditorDeleter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Ids must be distinct. An editor that cannot be deleted fails in its own result only. New editors can be added under
   * the ids at once. A job purges the items when requests that had read the editors have ended.
   */
  async delete(
    { scope, document: { documentId } }: DocumentContext,
    editorIds: readonly string[],
    now: number,
  ): Promise<ItemOutcome[]> {
    const { tenant, organizationKey, documentKey } = scope;
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
        const data = { organizationKey, documentKey, documentId, editor: { editorId, internalId: head.internalId } };
        const job = { jobId: newId('job', now), kind: 'purgeLeftover', data, dueAt: now + REQUESTS_ENDED_MS } as const;
        return {
          result: { success: true, message: 'CRDT data deleted.' },
          ops: [remove(EditorEntity, { ...scope, editorId }, head._r), startJob(tenant, job, now)],
        };
      },
      conflicted: () => ({ success: false, message: 'CRDT data is being changed by another request.' }),
    });
  }

  async listIds(scope: DocumentScope, limit: number): Promise<{ editorIds: string[]; hasMore: boolean }> {
    const editorIds: string[] = [];
    let prefix: string | undefined;
    for (;;) {
      const after = prefix === undefined ? undefined : beforeEditor(prefix);
      const { values } = await this.#table.query(EditorItems, scope, { ...LAST_ITEMS, descending: true, after });
      if (values.length === 0) return { editorIds, hasMore: false };
      for (const item of values) {
        const isLast = item.prefix !== prefix;
        prefix = item.prefix;
        if (!isLast || item.kind !== 'head') continue;
        if (editorIds.length === limit) return { editorIds, hasMore: true };
        editorIds.push(item.value.editorId);
      }
    }
  }
}

export const deleteEditors = /* @__PURE__ */ storeCapability(EditorDeleter, [
  'BatchGetItem',
  'Query',
  'PutItem',
  'DeleteItem',
]);
