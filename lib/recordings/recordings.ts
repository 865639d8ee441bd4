import type { Capability } from '../app/capability.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import {
  addInvolvement,
  type InvolvedRecord,
  involvedRecordKeys,
  type Involvement,
  locationIndex,
  recordPartition,
  recordSortKey,
  removeInvolvement,
} from '../content/involvements.ts';
import {
  claimRecordId,
  findRecordIds,
  findRecords,
  idKeyOf,
  type RecordPosition,
  releaseRecordId,
} from '../content/recordIds.ts';
import {
  type DocumentSource,
  type ListedDocument,
  type ListingOptions,
  type ListingPage,
  listRecords,
} from '../content/recordListing.ts';
import type { ResponseNames } from '../content/rules/eventMetadata.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { emit } from '../events/outbox.ts';
import { type AnnotationResult, failedAnnotation } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, remove, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import {
  type NewRecording,
  recorderDonePayload,
  Recording,
  type RecordingResponse,
  toRecording,
  toRecordingResponse,
} from './rules.ts';

export const RecordingEntity = defineEntity({
  type: 'Recording',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A recording on a document, with its attachments and transcription',
  schema: Recording,
  pk: (of: DocumentScope) => recordPartition(of, 'RECORDINGS'),
  sk: (key: { createdAt: number; annotationId: string }) => recordSortKey(key.createdAt, key.annotationId),
  indexes: { gsi2: locationIndex('recording', 'recordings with a location') },
});

export const recordingIds = { kind: 'recording', uniqueIn: 'document' } as const;

/** In the order of `involvements`. Undefined for a deleted recording. One BatchGet per 100. */
export async function readRecordings(
  table: Table,
  scope: OrganizationScope,
  involvements: readonly InvolvedRecord[],
): Promise<(Stored<Recording> | undefined)[]> {
  return table.getMany(RecordingEntity, involvedRecordKeys(scope, involvements));
}

export function recordingDeletionOps(scope: DocumentScope, recordings: readonly Stored<Recording>[]): WriteOp[] {
  return recordings.flatMap((recording) => [
    remove(RecordingEntity, { ...scope, ...recording }, recording._r),
    releaseRecordId(scope, recordIdOf(recording)),
    removeInvolvement(scope, involvementOf(scope, recording)),
  ]);
}

function recordIdOf({ annotationId, documentId }: Pick<Recording, 'annotationId' | 'documentId'>) {
  return idKeyOf(recordingIds, annotationId, documentId);
}

function involvementOf({ documentKey }: DocumentScope, { annotationId, createdAt, from }: Recording): Involvement {
  return {
    userId: from.userId,
    kind: 'recording',
    at: createdAt,
    documentKey,
    id: annotationId,
    createdAt,
    made: true,
  };
}

export interface IdentifiedRecording extends NewRecording {
  readonly annotationId: string;
  /** A recording that already has a generated id was added by an earlier try of the same call. */
  readonly generated: boolean;
}

export class RecordingReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Document by document, newest first. With `ids`, only these. */
  async list(
    documents: DocumentSource,
    names: ResponseNames,
    ids: readonly string[] | undefined,
    page: Pick<ListingOptions<unknown>, 'from' | 'limit'>,
  ): Promise<ListingPage<RecordingResponse>> {
    const isMatch = ids && (({ annotationId }: Recording) => ids.includes(annotationId));
    const toResponse = (recording: Recording) => toRecordingResponse(names, recording);
    return listRecords(this.#table, RecordingEntity, { ...page, documents, descending: true, toResponse, isMatch });
  }

  /** In the order of `ids`, without unknown ones. Two BatchGets, one after the other. */
  async findByIds(
    { scope, documentId }: ListedDocument,
    names: ResponseNames,
    ids: readonly string[],
  ): Promise<RecordingResponse[]> {
    const recordings = await findRecords(this.#table, RecordingEntity, scope, { kind: 'recording', documentId, ids });
    return recordings.flatMap((recording) => (recording ? [toRecordingResponse(names, recording)] : []));
  }
}

export class RecordingWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Each with its event. Ids must be distinct. A recording whose sent id exists fails in its own result only. */
  async add(
    context: DocumentContext,
    recordings: readonly IdentifiedRecording[],
    now: number,
  ): Promise<AnnotationResult[]> {
    const { tenant, organizationKey } = context.scope;
    const { documentId } = context.document;
    return writeEach<IdentifiedRecording, Stored<RecordPosition> | undefined, AnnotationResult>({
      table: this.#table,
      items: recordings,
      read: (items) =>
        findRecordIds(
          this.#table,
          { tenant, organizationKey },
          items.map(({ annotationId }) => recordIdOf({ annotationId, documentId })),
        ),
      decide: (recording, stored) => decideAddition(context, recording, stored, now),
      conflicted: ({ annotationId }) =>
        failedAnnotation(annotationId, 'Recording is being changed by another request.'),
    });
  }
}

function decideAddition(
  { scope, organization, document }: DocumentContext,
  { generated, ...sent }: IdentifiedRecording,
  stored: Stored<RecordPosition> | undefined,
  now: number,
): Decision<AnnotationResult> {
  const { annotationId } = sent;
  const result = { success: true, annotationId, message: 'Recording added.' };
  if (stored?.documentKey === scope.documentKey)
    return { result: generated ? result : failedAnnotation(annotationId, 'Recording already exists.'), ops: [] };
  const recording = toRecording(sent, document.documentId, now);
  const event = {
    event: 'recorder.done',
    // The event id is derived from the cause. With the time as revision, a recording that is deleted and added again gets a new one.
    cause: {
      type: 'Recording',
      id: JSON.stringify([scope.organizationKey, scope.documentKey, annotationId]),
      revision: now,
    },
    organizationId: organization.organizationId,
    documentId: document.documentId,
    payload: recorderDonePayload({ apiKey: scope.tenant, organization, document }, recording),
  } as const;
  const ops = [
    insert(RecordingEntity, { ...scope, ...recording }),
    claimRecordId(scope, recordIdOf(recording), now, stored),
    addInvolvement(scope, involvementOf(scope, recording)),
    ...emit(scope.tenant, event, now),
  ];
  return { result, ops };
}

export const listRecordings: Capability<Pick<RecordingReader, 'list' | 'findByIds'>> = /* @__PURE__ */ storeCapability(
  RecordingReader,
  ['BatchGetItem', 'Query'],
);

export const addRecordings: Capability<Pick<RecordingWriter, 'add'>> = /* @__PURE__ */ storeCapability(
  RecordingWriter,
  ['BatchGetItem', 'PutItem'],
);
