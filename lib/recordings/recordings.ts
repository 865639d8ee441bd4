import type { Capability } from '../app/capability.ts';
import {
  type NewRecording,
  Recording,
  recorderPayload,
  type ShownRecording,
  showRecording,
  toRecording,
} from './rules.ts';
import { instantKey } from '../shared/times.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { emit } from '../events/outbox.ts';
import type { Place } from '../directory/folders/folders.ts';
import { insert, remove, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { forget, type Involvement, involve, recordSortKey, recordsOf } from '../content/involvements.ts';
import type { ContentPlace, DocumentPlace } from '../content/documentScope.ts';
import { findRecords, nameRecord, type RecordPosition, unnameRecord } from '../content/recordIds.ts';
import {
  type DocumentSource,
  stretch,
  type WalkedDocument,
  type WalkOptions,
  walk,
  type Walked,
} from '../content/listDocuments.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** A recording on a document. */
export const RecordingEntity = defineEntity({
  type: 'Recording',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A recording on a document, with its attachments and transcription',
  schema: Recording,
  pk: (of: DocumentPlace) => recordsOf(of, 'RECORDINGS'),
  sk: (key: { createdAt: number; annotationId: string }) => recordSortKey(key.createdAt, key.annotationId),
  indexes: {
    gsi2: {
      holds: 'recordings with a location',
      pk: ({ tenant, documentId, locationKey }) =>
        locationKey === undefined ? undefined : [tenant, 'LOCATION', documentId, locationKey],
      sk: ({ organization, createdAt, annotationId }) => [
        organization,
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
  { tenant, organization }: Place,
  edges: readonly Pick<Involvement, 'document' | 'id' | 'createdAt'>[],
): Promise<(Stored<Recording> | undefined)[]> {
  return table.getMany(
    RecordingEntity,
    edges.map(({ document, id, createdAt }) => ({ tenant, organization, document, annotationId: id, createdAt })),
  );
}

/** The operations that remove recordings as they were read, with their ids and the edges of who made them: three for each. */
export function recordingRemovalOps(place: DocumentPlace, recordings: readonly Stored<Recording>[]): WriteOp[] {
  return recordings.flatMap((recording) => [
    remove(
      RecordingEntity,
      { ...place, annotationId: recording.annotationId, createdAt: recording.createdAt },
      recording._r,
    ),
    unnameRecord(place, named(recording)),
    forget(place, edge(place, recording)),
  ]);
}

const named = ({ annotationId, documentId }: Pick<Recording, 'annotationId' | 'documentId'>) =>
  ({ kind: 'recording', id: annotationId, within: documentId }) as const;

function edge({ document }: DocumentPlace, { annotationId, createdAt, from }: Recording): Involvement {
  return { userId: from.userId, kind: 'recording', at: createdAt, document, id: annotationId, createdAt, made: true };
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
    page: Pick<WalkOptions<unknown>, 'from' | 'limit'>,
  ): Promise<Walked<ShownRecording>> {
    const wanted = ids && (({ annotationId }: Recording) => ids.includes(annotationId));
    return walk({
      ...page,
      documents,
      read: ({ place }, options) =>
        stretch(
          this.table,
          RecordingEntity,
          place,
          { ...options, descending: true },
          (recording) => showRecording(names, recording),
          wanted,
        ),
    });
  }

  /** Those of the recordings that a document has, in the order of the ids. Two dependent BatchGets. */
  async named({ place, documentId }: WalkedDocument, names: Names, ids: readonly string[]): Promise<ShownRecording[]> {
    const positions = await findRecords(
      this.table,
      place,
      ids.map((annotationId) => named({ annotationId, documentId })),
    );
    const keys = positions.flatMap((position, index) =>
      position ? [{ ...place, annotationId: ids[index] as string, createdAt: position.createdAt }] : [],
    );
    const recordings = await this.table.getMany(RecordingEntity, keys);
    return recordings
      .filter((recording) => recording !== undefined)
      .map((recording) => showRecording(names, recording));
  }
}

export class RecordingWriter extends RecordingReader {
  /** Adds recordings to a document, each with its event; one whose id is taken fails alone. Ids are distinct. */
  async add(
    { place, organization, document }: ContentPlace,
    recordings: readonly IdentifiedRecording[],
    now: number,
  ): Promise<AddedRecording[]> {
    const { tenant } = place;
    const { organizationId } = organization;
    const { documentId } = document;
    return writeEach<IdentifiedRecording, Stored<RecordPosition> | undefined, AddedRecording>({
      table: this.table,
      items: recordings,
      read: (items) =>
        findRecords(
          this.table,
          { tenant, organization: place.organization },
          items.map(({ annotationId }) => named({ annotationId, documentId })),
        ),
      decide: ({ generated, ...sent }, stored) => {
        const { annotationId } = sent;
        const added = { success: true, annotationId, message: 'Recording added.' };
        if (stored?.document === place.document)
          return {
            result: generated ? added : { success: false, annotationId, message: 'Recording already exists.' },
            ops: [],
          };
        const recording = toRecording(sent, documentId, now);
        return {
          result: added,
          ops: [
            insert(RecordingEntity, { ...place, ...recording }),
            nameRecord(place, named(recording), now, stored),
            involve(place, edge(place, recording)),
            ...emit(
              tenant,
              {
                event: 'recorder.done',
                // With the time: what is added again under the id of something that was deleted is not the same.
                cause: {
                  type: 'Recording',
                  id: JSON.stringify([place.organization, place.document, annotationId]),
                  revision: now,
                },
                organizationId,
                documentId,
                payload: recorderPayload({ apiKey: tenant, organization, document }, recording),
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

export const listRecordings: Capability<Pick<RecordingReader, 'list' | 'named'>> = /* @__PURE__ */ storeCapability(
  RecordingReader,
  ['BatchGetItem', 'Query'],
);

export const addRecordings: Capability<Pick<RecordingWriter, 'add'>> = /* @__PURE__ */ storeCapability(
  RecordingWriter,
  ['BatchGetItem', 'PutItem'],
);
