import { inParallel } from '../shared/inParallel.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { type QueryableEntity, replace, type Table, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';
import { claimRecordId, findRecordIds, idKeyOf, type RecordIds, releaseRecordId } from './recordIds.ts';

const RECORDS_PER_PAGE = 500;
const BYTES_PER_PAGE = 4_000_000;
const PARALLEL = 8;

export interface Rename {
  readonly table: Table;
  readonly scope: DocumentScope;
  readonly from: string;
  readonly to: string;
}

export interface RenameHook {
  /** A test lists the entities with the id of a document that no hook renames. */
  readonly entity: { readonly type: string };
  /** Renames a page of records after the sort key `after`. Returns the end of the page if others follow. */
  rename(rename: Rename, after: string | undefined): Promise<string | undefined>;
}

interface Renamed<T> {
  /** For records whose ids have items of their own. */
  readonly ids?: { readonly of: RecordIds; idOf(record: T): string };
  /** If the partition also has other records. */
  readonly list?: QueryableEntity<object, DocumentScope>;
  readonly prefixOf?: (scope: DocumentScope) => readonly string[];
  /** If the partition also has records of earlier documents with the same id. */
  readonly isOf?: (record: T, scope: DocumentScope) => boolean;
}

/** For records with the id of their document. Moves ids that are unique in the document to the new document id. */
export function renameRecords<K extends object, T extends K & { readonly documentId?: string | undefined }>(
  entity: Entity<T, DocumentScope, K>,
  { ids, list = entity, prefixOf, isOf = () => true }: Renamed<T> = {},
): RenameHook {
  return {
    entity,
    async rename(rename, after) {
      const { table, scope, from } = rename;
      const page = await table.query<object, DocumentScope>(list, scope, {
        limit: RECORDS_PER_PAGE,
        bytes: BYTES_PER_PAGE,
        after,
        ...(prefixOf && { prefix: prefixOf(scope) }),
      });
      const records = page.values as Stored<{ readonly documentId?: string }>[] as Stored<T>[];
      const named = records.filter((record) => record.documentId === from && isOf(record, scope));
      await inParallel(named, PARALLEL, async (record) =>
        retryOnConflict(async () => {
          const stored = await table.get(entity, { ...scope, ...record });
          if (stored?.documentId !== from) return 'done';
          return table.tryWrite(await opsOf(rename, stored));
        }),
      );
      return page.next;
    },
  };

  async function opsOf({ table, scope, from, to }: Rename, stored: Stored<T>): Promise<WriteOp[]> {
    const op = replace(entity, { ...scope, ...stored, documentId: to }, stored._r);
    if (!ids) return [op];
    const [old, next] = [idKeyOf(ids.of, ids.idOf(stored), from), idKeyOf(ids.of, ids.idOf(stored), to)];
    const { tenant, organizationKey } = scope;
    const [position, taken] = await findRecordIds(table, { tenant, organizationKey }, [old, next]);
    if (position?.documentKey !== scope.documentKey) return [op];
    const claimed = { ...next, ...(position.documentId !== undefined && { documentId: to }) };
    return [
      op,
      claimRecordId(scope, claimed, position.createdAt, taken, position._r),
      ...(old.within === next.within ? [] : [releaseRecordId(scope, old, position._r)]),
    ];
  }
}
