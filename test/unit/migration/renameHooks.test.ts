import '../../../functions/index.ts';
import '../../../functions/workers/index.ts';
import { expect, test } from '@jest/globals';
import { renameHooks } from '../../../lib/migration/migrateDocumentStep.ts';
import { entities } from '../../../lib/table/entity.ts';

/** Entities with the id of a document that no hook renames, and why. */
const notRenamed = {
  Document: 'the last transaction',
  LiveChannel: 'the last transaction',
  RenamedDocument: 'the last transaction',
  RecordId: 'with its record',
  Event: 'keeps the id of before',
};

test('the hooks of a migration rename every entity with the id of a document', () => {
  const named = entities().filter(({ definition }) => 'documentId' in definition.schema.shape);
  const renamed = renameHooks.map(({ entity }) => entity.type);
  expect([...renamed, ...Object.keys(notRenamed)].sort()).toEqual(named.map(({ type }) => type).sort());
});
