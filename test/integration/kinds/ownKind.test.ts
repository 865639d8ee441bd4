import { beforeEach, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { involvementKeys, purgeRecords } from '../../../lib/content/documentPurge.ts';
import type { DocumentScope } from '../../../lib/content/documentScope.ts';
import {
  addInvolvement,
  involvedRecordKeys,
  InvolvementEntity,
  locationIndex,
  recordPartition,
  recordSortKey,
  removeInvolvement,
} from '../../../lib/content/involvements.ts';
import { type ContentKind, defineContentKind } from '../../../lib/content/kind.ts';
import { claimRecordId, findRecordIds, idKeyOf, recordIdKey, releaseRecordId } from '../../../lib/content/recordIds.ts';
import { renameRecords } from '../../../lib/content/rename.ts';
import { hintFor, verbs, type Written } from '../../../lib/content/rules/hints.ts';
import { locationKey, storedLocation } from '../../../lib/content/rules/location.ts';
import { erasePage, joinOps } from '../../../lib/content/userRemoval.ts';
import { LocationDeleter } from '../../../lib/deletion/deleteLocationData.ts';
import { purgeDocument } from '../../../lib/deletion/purgeDocuments.ts';
import { walkUsers } from '../../../lib/deletion/userWalk.ts';
import { contentKinds } from '../../../lib/kinds/contentKinds.ts';
import { hintCatalogue } from '../../../lib/live/rules/hints.ts';
import { LocationUpdater } from '../../../lib/locations/locationUpdater.ts';
import { defineEntity, type Stored } from '../../../lib/table/entity.ts';
import { insert, remove, type WriteOp } from '../../../lib/table/table.ts';
import { InvolvedDocumentsReader } from '../../../lib/userData/involvedDocuments.ts';
import { UserDataReader } from '../../../lib/userData/userData.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';

const chapter = { id: 'chapter-1' };
const NOW = 1_767_225_600_000;

const Note = z.object({
  annotationId: z.string(),
  userId: z.string(),
  documentId: z.string(),
  createdAt: z.number(),
  location: z.string().optional(),
  locationKey: z.string().optional(),
});
type Note = z.output<typeof Note>;

const NoteEntity = defineEntity({
  type: 'Note',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A note of these tests',
  schema: Note,
  pk: (of: DocumentScope) => recordPartition(of, 'NOTES'),
  sk: (key: { createdAt: number; annotationId: string }) => recordSortKey(key.createdAt, key.annotationId),
  indexes: { gsi2: locationIndex('note', 'notes with a location') },
});

const noteIds = { kind: 'note', uniqueIn: 'document' } as const;

function involvementOf({ documentKey }: DocumentScope, { annotationId, userId, createdAt }: Note) {
  return { kind: 'note', userId, documentKey, id: annotationId, createdAt, at: createdAt, made: true };
}

function deletionOps(scope: DocumentScope, note: Stored<Note>): WriteOp[] {
  return [
    remove(NoteEntity, { ...scope, ...note }, note._r),
    releaseRecordId(scope, idKeyOf(noteIds, note.annotationId, note.documentId)),
    removeInvolvement(scope, involvementOf(scope, note)),
  ];
}

const noteKind = defineContentKind({
  name: 'note',
  ids: noteIds,
  involve: {
    field: 'notes',
    response: () => z.array(z.object({ id: z.string() })),
    read: (store, scope, involvements) => store.getMany(NoteEntity, involvedRecordKeys(scope, involvements)),
    toResponse: (_names, { annotationId }: Note) => ({ id: annotationId }),
    access: 'none',
  },
  locate: {
    entity: NoteEntity,
    move: (note: Note, stored) => ({ ...note, ...stored }),
    deletion: { ops: deletionOps },
  },
  rename: [renameRecords(NoteEntity, { ids: { of: noteIds, idOf: ({ annotationId }) => annotationId } })],
  purge: {
    document: purgeRecords([NoteEntity, InvolvementEntity], noteIds, NoteEntity, (document, notes) => ({
      ids: notes.map(({ annotationId }) => annotationId),
      keys: involvementKeys(notes.flatMap((note) => deletionOps(document, note))),
    })),
    organization: 'none',
  },
  hint: {
    types: { 'note.add': 'document', 'note.update': 'document' },
    written: {
      Note: (change: Written<Note>) =>
        hintFor(change, `note.${verbs[change.change]}`, { noteId: change.item.annotationId }),
    },
    removed: {},
  },
  async remove({ table: store, scope }, { id, createdAt, ...involvement }) {
    const note = await store.get(NoteEntity, { ...scope, annotationId: id, createdAt });
    return store.tryWrite(
      joinOps(note ? deletionOps(scope, note) : [], [removeInvolvement(scope, { ...involvement, id })]),
    );
  },
  erase: {
    entities: [NoteEntity],
    erase: (removal, after) =>
      erasePage(
        removal,
        NoteEntity,
        after,
        ({ userId }) => removal.removedUsers.userIds.has(userId),
        async (note) => deletionOps(removal.scope, note as Stored<Note>),
      ),
  },
});
const kinds: readonly ContentKind[] = [...contentKinds, noteKind];

const { customer } = acmeWorld({ table: 'memory', documents: ['nda'] });
let scope: DocumentScope;
const note = { annotationId: 'n', userId: 'ada', documentId: 'nda', createdAt: NOW, ...storedLocation(chapter) };

beforeEach(async () => {
  await customer.addUsers([{ userId: 'ada' }]);
  scope = await storedDocumentScope(customer);
  const ops = [
    insert(NoteEntity, { ...scope, ...note }),
    claimRecordId(scope, recordIdKey('note', 'n', 'nda'), NOW, undefined),
    addInvolvement(scope, involvementOf(scope, note)),
  ];
  expect(await table.write(ops)).toBe('done');
});

const stored = () => table.get(NoteEntity, { ...scope, ...note });

/** Returns whether the note, its id and its involvement are stored. */
async function remains(): Promise<boolean[]> {
  const [position] = await findRecordIds(table, scope, [recordIdKey('note', 'n', 'nda')]);
  const involvement = await table.get(InvolvementEntity, { ...scope, ...involvementOf(scope, note) });
  return [await stored(), position, involvement].map((item) => item !== undefined);
}

describe('a kind of content that is only declared', () => {
  const organization = () => ({ organizationId: nda.organizationId, internalId: scope.organizationKey });
  const budget = { clock: () => 0, deadline: 1 };
  const walk = (mode: 'remove' | 'erase') =>
    walkUsers(
      {
        table,
        scope,
        mode,
        isLastPass: true,
        userIds: ['ada'],
        at: NOW + 1,
        limitsOf: () => ({ access: NOW + 1, content: NOW + 1 }),
        kinds,
      },
      { user: 0 },
      budget,
    );

  test('is in the data of a user, in a field of its own', async () => {
    const page = await new UserDataReader(table, kinds).page(scope.tenant, organization(), 'ada', {}, NOW);
    expect(page).toEqual({
      ...{ comments: [], reactions: [], recordings: [], notifications: [] },
      notes: [{ id: 'n' }],
      next: undefined,
    });
  });

  test('counts for the documents that a user is involved in', async () => {
    const reader = new InvolvedDocumentsReader(table, kinds);
    expect(await reader.read(scope, ['ada'])).toEqual([{ documentIds: ['nda'], hasMore: false }]);
  });

  test('moves when its location changes', async () => {
    const change = { oldLocation: chapter, newLocation: { id: 'chapter-2' }, merge: false };
    await new LocationUpdater(table, () => NOW, kinds).update(scope.tenant, { documentId: 'nda', ...change });
    expect(await stored()).toMatchObject({ locationKey: locationKey({ id: 'chapter-2' }) });
  });

  test('goes with its id and involvement when the data of its location is deleted', async () => {
    await new LocationDeleter(table, kinds).delete(scope.tenant, 'nda', chapter);
    expect(await remains()).toEqual([false, false, false]);
  });

  test('goes with its id and involvement when its document is purged', async () => {
    expect(await purgeDocument(table, { ...scope, documentId: 'nda' }, budget, kinds)).toBe(true);
    expect(await remains()).toEqual([false, false, false]);
  });

  test.each(['remove', 'erase'] as const)('goes when its user is removed (%s)', async (mode) => {
    expect(await walk(mode)).toBe('done');
    expect(await remains()).toEqual([false, false, false]);
  });

  test('has hints for connected clients', () => {
    const hints = hintCatalogue(kinds);
    expect(hints.hintedTypes).toContain('Note');
    expect(hints.announced['note.add']).toBe('document');
    const key = NoteEntity.key({ ...scope, ...note });
    expect(hints.hintOf({ change: 'insert', key, item: { _t: 'Note', ...note }, at: NOW })).toEqual({
      hint: { type: 'note.add', at: NOW, ids: { noteId: 'n' } },
      audience: { kind: 'document' },
    });
  });

  test('does not compile without one of its members', () => {
    const { hint: _hint, ...withoutHint } = noteKind;
    // @ts-expect-error A kind without hints must declare them as none.
    expect(defineContentKind(withoutHint).name).toBe('note');
  });
});
