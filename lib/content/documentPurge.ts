import { distinct } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Key, Stored } from '../table/entity.ts';
import { arePurged, type PurgeBudget, purgePartition } from '../table/purgePartition.ts';
import type { QueryableEntity, Table, WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';
import {
  findRecordIds,
  idKeyOf,
  RecordIdEntity,
  type RecordIdKey,
  type RecordIds,
  releaseRecordId,
} from './recordIds.ts';

export interface PurgeHook<S> {
  /** A test checks that the hooks together cover the entities of documents, folders and organizations. */
  readonly entities: readonly { readonly type: string }[];
  /**
   * Returns true if nothing remains. Items that only a record names go before the record, so that the next run finds
   * them after an interruption.
   */
  purge(table: Table, scope: S, budget: PurgeBudget): Promise<boolean>;
}

export interface DeletedDocument extends DocumentScope {
  readonly documentId: string;
  /** If true, no new document can use the ids of the records. */
  readonly withOrganization?: boolean | undefined;
}

export async function runPurgeHooks<S>(
  hooks: readonly PurgeHook<S>[],
  table: Table,
  scope: S,
  budget: PurgeBudget,
): Promise<boolean> {
  let unfinished = hooks;
  do {
    const complete = await Promise.all(unfinished.map((hook) => hook.purge(table, scope, budget)));
    unfinished = unfinished.filter((_hook, index) => !complete[index]);
  } while (unfinished.length > 0 && budget.clock() < budget.deadline);
  return unfinished.length === 0;
}

export function purgeItem(entity: {
  readonly type: string;
  key(document: DocumentScope): Key;
}): PurgeHook<DeletedDocument> {
  return {
    entities: [entity],
    async purge(table, document) {
      await table.removeKeys([entity.key(document)]);
      return true;
    },
  };
}

export function purgeItems<S>(
  ...entities: readonly { readonly type: string; partition(scope: S): string }[]
): PurgeHook<S> {
  return {
    entities,
    purge: (table, scope, budget) =>
      arePurged(entities.map((entity) => purgePartition(table, entity.partition(scope), budget))),
  };
}

/** A record can have 360 KB, and several documents are purged at the same time. */
const RECORDS = 200;
const BYTES = 1_000_000;
const PARALLEL = 16;

interface Derived {
  readonly keys: readonly Key[];
  readonly ids: readonly string[];
}

const KEY = Symbol('key');
type WithKey<T> = T & { readonly [KEY]: Key };

export function purgeRecords<T extends object>(
  entities: readonly { readonly type: string }[],
  ids: RecordIds | 'none',
  records: QueryableEntity<T, DocumentScope>,
  derive: (document: DeletedDocument, records: readonly Stored<T>[]) => Derived,
): PurgeHook<DeletedDocument> {
  const withKeys: QueryableEntity<WithKey<T>, DocumentScope> = {
    partition: (scope) => records.partition(scope),
    fromItem(item, now) {
      const record = records.fromItem(item, now);
      return record && ({ ...record, [KEY]: { PK: item.PK, SK: item.SK } } as Stored<WithKey<T>>);
    },
  };
  return {
    entities: ids === 'none' ? entities : [...entities, RecordIdEntity],
    async purge(table, document) {
      const { values, next } = await table.query(withKeys, document, { limit: RECORDS, bytes: BYTES });
      const derived = derive(document, values);
      // A migration that the deletion ended has given the new id to some records.
      const renamed = values.flatMap((value) => ('documentId' in value ? [value.documentId as string] : []));
      const documentIds = distinct([document.documentId, ...renamed]);
      const idKeys =
        ids === 'none'
          ? []
          : documentIds.flatMap((documentId) => derived.ids.map((id) => idKeyOf(ids, id, documentId)));
      await Promise.all([table.removeKeys(derived.keys), purgeRecordIds(table, document, idKeys)]);
      await table.removeKeys(values.map((value) => value[KEY]));
      return next === undefined;
    },
  };
}

/** A record of a new document with the same document id can have the same id. Its id stays. */
async function purgeRecordIds(table: Table, document: DeletedDocument, ids: readonly RecordIdKey[]): Promise<void> {
  const { tenant, organizationKey } = document;
  if (document.withOrganization)
    return table.removeKeys(ids.map((id) => RecordIdEntity.key({ tenant, organizationKey, ...id })));
  const stored = await findRecordIds(table, document, ids);
  await inParallel(ids, PARALLEL, async (id, index) => {
    const position = stored[index];
    if (position) await table.write([releaseRecordId(document, id, position._r)]);
  });
}

function keysOf(ops: readonly WriteOp[]): Key[] {
  return ops.flatMap((op) => ('remove' in op ? [op.remove] : []));
}

export function involvementKeys(ops: readonly WriteOp[]): Key[] {
  return keysOf(ops).filter(({ SK }) => SK.startsWith('DATA#'));
}
