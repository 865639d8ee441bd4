import * as z from 'zod';
import { isLongerThan } from '../shared/bytes.ts';
import { Id, unchangedObject, list, Name, OpenObject, optional, Text } from '../shared/schema.ts';
import { type EventPayload, LARGEST_PAYLOAD_BYTES } from '../events/rules/payload.ts';
import { Location, locationKey } from '../content/rules/location.ts';
import { type ContentNames, eventMetadataIds, eventMetadata, recordMetadata } from '../content/rules/names.ts';
import { ContentUser, StoredUser } from '../content/rules/user.ts';

/** What was recorded; facts name the field and no values. */
export const recordingTypes = ['audio', 'video', 'screen'] as const;
/** Where a client shows it (facts B17). */
export const recordingModes = ['floating', 'thread'] as const;

const MOST_ATTACHMENTS = 50;
/** What a recording takes in all, as JSON: DynamoDB holds 400 KB in one item. */
const LARGEST_BYTES = 256 * 1024;
/** There is no operation that makes another version. */
const LATEST_VERSION = 1;

/** What events say of an attachment (facts B7, B17); its other fields are kept, too. */
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
    /** How long it is: `duration` in milliseconds, `display` as it is shown. */
    recordedTime: optional(
      unchangedObject(z.object({ duration: optional(z.number().min(0)), display: optional(Name) })),
    ),
    attachments: optional(list(unchangedObject(KnownAttachment), MOST_ATTACHMENTS, 0)),
    /** What was said: a text, or an object as in facts B7. */
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

/** A recording as it is stored (facts B17); what is the caller's own is JSON text. */
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

/** What is stored of a recording that was sent. */
export function toRecording(
  { annotationId, ...sent }: NewRecording & { readonly annotationId: string },
  documentId: string,
  now: number,
): Recording {
  return {
    annotationId,
    recordingType: sent.recordingType,
    mode: sent.mode ?? 'floating',
    from: sent.from,
    displayName: sent.displayName,
    recordedTime: text(sent.recordedTime),
    attachments: text(sent.attachments),
    transcription: text(sent.transcription),
    location: text(sent.location),
    locationKey: sent.location && locationKey(sent.location),
    metadata: text(sent.metadata),
    documentId,
    latestVersion: LATEST_VERSION,
    createdAt: now,
    lastUpdated: now,
  };
}

const Open = z.record(z.string(), z.unknown());

/** A recording as answers show it. */
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
  /** The ids of where it lies, over what the caller keeps in it. */
  metadata: Open,
});
export type RecordingResponse = z.output<typeof RecordingResponse>;

/** Shows a recording; `apiKey` and `organizationId` are those that it lies under, as customers know them. */
export function toRecordingResponse(
  { apiKey, organizationId }: { apiKey: string; organizationId: string },
  recording: Recording,
): RecordingResponse {
  const {
    annotationId,
    recordingType,
    mode,
    from,
    displayName,
    locationKey: locationId,
    documentId,
    latestVersion,
    createdAt,
    lastUpdated,
  } = recording;
  return {
    annotationId,
    type: 'recorder',
    recordingType,
    mode,
    from,
    displayName,
    recordedTime: value<RecordingResponse['recordedTime']>(recording.recordedTime),
    attachments: value<RecordingResponse['attachments']>(recording.attachments) ?? [],
    transcription: value<RecordingResponse['transcription']>(recording.transcription),
    location: value<RecordingResponse['location']>(recording.location),
    locationId,
    latestVersion,
    createdAt,
    lastUpdated,
    metadata: recordMetadata(
      { apiKey, organization: { organizationId }, document: { documentId } },
      recording.metadata,
    ),
  };
}

/**
 * What `recorder.done` says (facts B7): the attachments are its assets. A payload that would be too large is reduced to ids, with
 * `truncated: true`: a recording is never refused because of its event.
 */
export function recorderDonePayload(names: ContentNames, recording: Recording): EventPayload {
  const { annotationId: recorderId, from } = recording;
  const assets = (value<KnownAttachment[]>(recording.attachments) ?? []).map(assetOf);
  const whole: EventPayload = {
    source: 'recorder',
    data: {
      actionUser: from,
      metadata: eventMetadata(names, value<Location>(recording.location)),
      recorderId,
      from,
      assets,
      assetsAllVersions: assets,
      transcription: value(recording.transcription),
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

/** The formats that assets have (facts B7), by the type of the file, else by the end of its name. */
function fileFormatOf(mimeType = '', name = ''): string | undefined {
  const [, subtype = ''] = /\/([^;]*)/.exec(mimeType) ?? [];
  const format = subtype === 'mpeg' ? 'mp3' : subtype || name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return ['mp3', 'mp4', 'webm'].find((known) => known === format);
}

function text(sent: unknown): string | undefined {
  return sent === undefined ? undefined : JSON.stringify(sent);
}

function value<T = unknown>(stored: string | undefined): T | undefined {
  return stored === undefined ? undefined : (JSON.parse(stored) as T);
}
