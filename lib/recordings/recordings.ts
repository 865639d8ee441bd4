import type { Capability } from '../app/capability.ts';
import {
  type NewRecording,
  Recording,
  recorderDonePayload,
  type RecordingResponse,
  toRecordingResponse,
  toRecording,
} from './rules.ts';
import { instantKey } from '../shared/times.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { emit } from '../events/outbox.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { insert, remove, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  removeInvolvement,
  type Involvement,
  addInvolvement,
  recordSortKey,
  recordPartition,
} from '../content/involvements.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { findRecordIds, claimRecordId, type RecordPosition, releaseRecordId } from '../content/recordIds.ts';
import {
  type DocumentSource,
  readRecordPage,
  type ListedDocument,
  type ListingOptions,
  listAcrossDocuments,
  type ListingPage,
} from '../content/recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** A recording on a document. */
export const RecordingEntity = defineEntity({
  type: 'Recording',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A recording on a document, with its attachments and transcription',
  schema: Recording,
  pk: (of: DocumentScope) => recordPartition(of, 'RECORDINGS'),
  sk: (key: { createdAt: number; annotationId: string }) => recordSortKey(key.createdAt, key.annotationId),
  indexes: {
    gsi2: {
      holds: 'recordings with a location',
      pk: ({ tenant, documentId, locationKey }) =>
        locationKey === undefined ? undefined : [tenant, 'LOCATION', documentId, locationKey],
      sk: ({ organizationKey, createdAt, annotationId }) => [
        organizationKey,
        'recording',
        instantKey(createdAt),
        annotationId,
      ],
    },
  },
});

/** The recordings of a user's data, by the edges that lead to them, undefined where there is none any more. One BatchGet per 100. */
export async function readRecordings(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  edges: readonly Pick<Involvement, 'documentKey' | 'id' | 'createdAt'>[],
): Promise<(Stored<Recording> | undefined)[]> {
  return table.getMany(
    RecordingEntity,
    edges.map(({ documentKey, id, createdAt }) => ({
      tenant,
      organizationKey,
      documentKey,
      annotationId: id,
      createdAt,
    })),
  );
}

/** The operations that remove recordings as they were read, with their ids and the edges of who made them: three for each. */
export function recordingDeletionOps(scope: DocumentScope, recordings: readonly Stored<Recording>[]): WriteOp[] {
  return recordings.flatMap((recording) => [
    remove(
      RecordingEntity,
      { ...scope, annotationId: recording.annotationId, createdAt: recording.createdAt },
      recording._r,
    ),
    releaseRecordId(scope, named(recording)),
    removeInvolvement(scope, edge(scope, recording)),
  ]);
}

const named = ({ annotationId, documentId }: Pick<Recording, 'annotationId' | 'documentId'>) =>
  ({ kind: 'recording', id: annotationId, within: documentId }) as const;

function edge({ documentKey }: DocumentScope, { annotationId, createdAt, from }: Recording): Involvement {
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

/** A recording to add, with its id. */
export interface IdentifiedRecording extends NewRecording {
  readonly annotationId: string;
  /** Whether the id is of our making: what is there under it is what an earlier try of the same call has added. */
  readonly generated: boolean;
}

export interface AddedRecording {
  readonly success: boolean;
  readonly annotationId: string;
  readonly message: string;
}

/** What recordings lie under, as customers know it. */
interface Names {
  readonly apiKey: string;
  readonly organizationId: string;
}

export class RecordingReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** A page of the recordings of some documents, or of those with some ids among them: document by document, newest first. */
  async list(
    documents: DocumentSource,
    names: Names,
    ids: readonly string[] | undefined,
    page: Pick<ListingOptions<unknown>, 'from' | 'limit'>,
  ): Promise<ListingPage<RecordingResponse>> {
    const wanted = ids && (({ annotationId }: Recording) => ids.includes(annotationId));
    return listAcrossDocuments({
      ...page,
      documents,
      read: ({ scope }, options) =>
        readRecordPage(
          this.table,
          RecordingEntity,
          scope,
          { ...options, descending: true },
          (recording) => toRecordingResponse(names, recording),
          wanted,
        ),
    });
  }

  /** Those of the recordings that a document has, in the order of the ids. Two dependent BatchGets. */
  async findByIds(
    { scope, documentId }: ListedDocument,
    names: Names,
    ids: readonly string[],
  ): Promise<RecordingResponse[]> {
    const positions = await findRecordIds(
      this.table,
      scope,
      ids.map((annotationId) => named({ annotationId, documentId })),
    );
    const keys = positions.flatMap((position, index) =>
      position ? [{ ...scope, annotationId: ids[index] as string, createdAt: position.createdAt }] : [],
    );
    const recordings = await this.table.getMany(RecordingEntity, keys);
    return recordings
      .filter((recording) => recording !== undefined)
      .map((recording) => toRecordingResponse(names, recording));
  }
}

export class RecordingWriter extends RecordingReader {
  /** Adds recordings to a document, each with its event; one whose id is taken fails alone. Ids are distinct. */
  async add(
    { scope: scope, organization, document }: DocumentContext,
    recordings: readonly IdentifiedRecording[],
    now: number,
  ): Promise<AddedRecording[]> {
    const { tenant } = scope;
    const { organizationId } = organization;
    const { documentId } = document;
    return writeEach<IdentifiedRecording, Stored<RecordPosition> | undefined, AddedRecording>({
      table: this.table,
      items: recordings,
      read: (items) =>
        findRecordIds(
          this.table,
          { tenant, organizationKey: scope.organizationKey },
          items.map(({ annotationId }) => named({ annotationId, documentId })),
        ),
      decide: ({ generated, ...sent }, stored) => {
        const { annotationId } = sent;
        const added = { success: true, annotationId, message: 'Recording added.' };
        if (stored?.documentKey === scope.documentKey)
          return {
            result: generated ? added : { success: false, annotationId, message: 'Recording already exists.' },
            ops: [],
          };
        const recording = toRecording(sent, documentId, now);
        return {
          result: added,
          ops: [
            insert(RecordingEntity, { ...scope, ...recording }),
            claimRecordId(scope, named(recording), now, stored),
            addInvolvement(scope, edge(scope, recording)),
            ...emit(
              tenant,
              {
                event: 'recorder.done',
                // With the time: what is added again under the id of something that was deleted is not the same.
                cause: {
                  type: 'Recording',
                  id: JSON.stringify([scope.organizationKey, scope.documentKey, annotationId]),
                  revision: now,
                },
                organizationId,
                documentId,
                payload: recorderDonePayload({ apiKey: tenant, organization, document }, recording),
              },
              now,
            ),
          ],
        };
      },
      conflicted: ({ annotationId }) => ({
        success: false,
        annotationId,
        message: 'Recording is being changed by another request.',
      }),
    });
  }
}

export const listRecordings: Capability<Pick<RecordingReader, 'list' | 'findByIds'>> = /* @__PURE__ */ storeCapability(
  RecordingReader,
  ['BatchGetItem', 'Query'],
);

export const addRecordings: Capability<Pick<RecordingWriter, 'add'>> = /* @__PURE__ */ storeCapability(
  RecordingWriter,
  ['BatchGetItem', 'PutItem'],
);
