import * as z from 'zod';
import { isLongerThan } from '../shared/bytes.ts';
import { Id, unchangedObject, list, Name, OpenObject, optional, Text } from '../shared/schema.ts';
import { type EventPayload, LARGEST_PAYLOAD_BYTES } from '../events/rules/payload.ts';
import { fromJsonFields, pickFields, readJson, toStoredFields } from '../shared/jsonFields.ts';
import { Location, locationKey } from '../content/rules/location.ts';
import { type ContentNames, eventMetadata, eventMetadataIds, recordMetadata } from '../content/rules/names.ts';
import { ContentUser, StoredUser } from '../content/rules/user.ts';

export const recordingTypes = ['audio', 'video', 'screen'] as const;
/** Where clients show a recording. */
export const recordingModes = ['floating', 'thread'] as const;

const MOST_ATTACHMENTS = 50;
/** The size of a recording as JSON. DynamoDB limits an item to 400 KB. */
const LARGEST_BYTES = 256 * 1024;
/** No endpoint adds another version. */
const LATEST_VERSION = 1;

/** The documented fields of an attachment. Other fields are stored too. */
const KnownAttachment = z.object({
  attachmentId: optional(z.number()),
  name: optional(Name),
  url: optional(Text),
  size: optional(z.number().min(0)),
  mimeType: optional(Name),
  thumbnail: optional(Text),
});
type KnownAttachment = z.output<typeof KnownAttachment>;

/** A recording as callers add it. */
export const NewRecording = z
  .object({
    annotationId: optional(Id),
    recordingType: z.enum(recordingTypes),
    mode: optional(z.enum(recordingModes)),
    from: ContentUser,
    displayName: optional(Name),
    /** The length: `duration` in milliseconds, `display` as text. */
    recordedTime: optional(
      unchangedObject(z.object({ duration: optional(z.number().min(0)), display: optional(Name) })),
    ),
    attachments: optional(list(unchangedObject(KnownAttachment), MOST_ATTACHMENTS, 0)),
    transcription: optional(
      z.union([Text, OpenObject], { error: 'must be a text of at most 32 KB or an object of at most 64 KB' }),
    ),
    location: optional(Location),
    metadata: optional(OpenObject),
  })
  .check(
    z.refine((recording) => !isLongerThan(JSON.stringify(recording), LARGEST_BYTES), {
      error: `must be at most ${LARGEST_BYTES} bytes as JSON`,
    }),
  );
export type NewRecording = z.output<typeof NewRecording>;

/** A recording as it is stored. The caller's own objects are JSON text. */
export const Recording = z.object({
  annotationId: z.string(),
  recordingType: z.enum(recordingTypes),
  mode: z.enum(recordingModes),
  from: StoredUser,
  displayName: z.string().optional(),
  recordedTime: z.string().optional(),
  attachments: z.string().optional(),
  transcription: z.string().optional(),
  location: z.string().optional(),
  locationKey: z.string().optional(),
  metadata: z.string().optional(),
  /** The customer's id of the document. */
  documentId: z.string(),
  latestVersion: z.number(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Recording = z.output<typeof Recording>;

const jsonFields = ['recordedTime', 'attachments', 'transcription', 'location', 'metadata'] as const;
const plainFields = ['recordingType', 'from', 'displayName'] as const;

/** Returns a new recording as it is stored. */
export function toRecording(
  sent: NewRecording & { readonly annotationId: string },
  documentId: string,
  now: number,
): Recording {
  return {
    ...pickFields(sent, ['annotationId', ...plainFields]),
    ...toStoredFields<NewRecording>(sent, jsonFields),
    mode: sent.mode ?? 'floating',
    locationKey: sent.location && locationKey(sent.location),
    documentId,
    latestVersion: LATEST_VERSION,
    createdAt: now,
    lastUpdated: now,
  };
}

const Open = z.record(z.string(), z.unknown());

/** A recording in a response. */
export const RecordingResponse = z.object({
  annotationId: z.string(),
  type: z.literal('recorder'),
  recordingType: z.enum(recordingTypes),
  mode: z.enum(recordingModes),
  from: StoredUser,
  displayName: z.string().optional(),
  recordedTime: Open.optional(),
  attachments: z.array(Open),
  transcription: z.union([z.string(), Open]).optional(),
  location: Open.optional(),
  locationId: z.string().optional(),
  latestVersion: z.number(),
  /** Epoch milliseconds, like `lastUpdated`. */
  createdAt: z.number(),
  lastUpdated: z.number(),
  /** The caller's fields and the ids of the document. */
  metadata: Open,
});
export type RecordingResponse = z.output<typeof RecordingResponse>;

/** Returns a recording as responses have it. */
export function toRecordingResponse(
  { apiKey, organizationId }: { apiKey: string; organizationId: string },
  recording: Recording,
): RecordingResponse {
  const { documentId } = recording;
  const parsed = fromJsonFields(jsonFields, recording) as Pick<RecordingResponse, (typeof jsonFields)[number]>;
  return {
    ...pickFields(recording, ['annotationId', 'mode', ...plainFields, 'latestVersion', 'createdAt', 'lastUpdated']),
    ...parsed,
    type: 'recorder',
    attachments: recording.attachments === undefined ? [] : parsed.attachments,
    locationId: recording.locationKey,
    metadata: recordMetadata(
      { apiKey, organization: { organizationId }, document: { documentId } },
      recording.metadata,
    ),
  };
}

/**
 * Returns the payload of `recorder.done`: the attachments are its assets. A payload that is too large is reduced to ids, so that a
 * recording never fails because of its event.
 */
export function recorderDonePayload(names: ContentNames, recording: Recording): EventPayload {
  const { annotationId: recorderId, from } = recording;
  const assets = (readJson<KnownAttachment[]>(recording.attachments) ?? []).map(assetOf);
  const whole: EventPayload = {
    source: 'recorder',
    data: {
      actionUser: from,
      metadata: eventMetadata(names, readJson<Location>(recording.location)),
      recorderId,
      from,
      assets,
      assetsAllVersions: assets,
      transcription: readJson(recording.transcription),
    },
  };
  if (!isLongerThan(JSON.stringify(whole), LARGEST_PAYLOAD_BYTES)) return whole;
  const user = { userId: from.userId };
  return {
    ...whole,
    data: {
      actionUser: user,
      metadata: eventMetadataIds(names),
      recorderId,
      from: user,
      assets: [],
      assetsAllVersions: [],
      truncated: true,
    },
  };
}

function assetOf({ url, mimeType, name, size, thumbnail }: KnownAttachment) {
  return {
    version: LATEST_VERSION,
    url,
    mimeType,
    fileName: name,
    fileSizeInBytes: size,
    fileFormat: fileFormatOf(mimeType, name),
    thumbnailUrl: thumbnail,
  };
}

/** Returns the format of an asset: by its MIME type, otherwise by the extension of its name. */
function fileFormatOf(mimeType = '', name = ''): string | undefined {
  const [, subtype = ''] = /\/([^;]*)/.exec(mimeType) ?? [];
  const format = subtype === 'mpeg' ? 'mp3' : subtype || name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return ['mp3', 'mp4', 'webm'].find((known) => known === format);
}
