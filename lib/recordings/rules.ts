import * as z from 'zod';
import { ContentUser, StoredUser } from '../content/rules/contentUser.ts';
import {
  type ContentNames,
  eventMetadata,
  eventMetadataIds,
  recordMetadata,
  type ResponseNames,
} from '../content/rules/eventMetadata.ts';
import { Location, locationKey } from '../content/rules/location.ts';
import { type EventPayload, MAX_PAYLOAD_BYTES } from '../events/rules/payload.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { fromJsonFields, pickFields, readJson, toStoredFields } from '../shared/jsonFields.ts';
import {
  AnyObject,
  defineNamedSchema,
  defineSchema,
  Id,
  jsonBytesAtMost,
  list,
  Name,
  OpenObject,
  optional,
  Text,
  unchangedObject,
} from '../shared/schema.ts';

const recordingTypes = ['audio', 'video', 'screen'] as const;
/** Where clients show a recording. */
const recordingModes = ['floating', 'thread'] as const;

const MAX_ATTACHMENTS = 50;
/** The largest size of a recording as JSON, in bytes. DynamoDB limits an item to 400 KB. */
const MAX_RECORDING_BYTES = 256 * 1024;
/** The version number of every recording. No endpoint adds a second version. */
const ONLY_VERSION = 1;

/** The documented fields of an attachment. Other fields are stored too. */
const KnownAttachment = /* @__PURE__ */ defineSchema(() =>
  z.object({
    attachmentId: optional(z.number()),
    name: optional(Name),
    url: optional(Text),
    size: optional(z.number().min(0)),
    mimeType: optional(Name),
    thumbnail: optional(Text),
  }),
);
type KnownAttachment = z.output<typeof KnownAttachment>;

/** A recording to add, as a request sends it. */
export const NewRecording = /* @__PURE__ */ defineNamedSchema('RecordingInput', () =>
  z
    .object({
      annotationId: optional(Id),
      recordingType: z.enum(recordingTypes),
      mode: optional(z.enum(recordingModes)),
      from: ContentUser,
      displayName: optional(Name),
      /** The length of the recording. `duration` is in milliseconds, `display` is a text for users. */
      recordedTime: optional(
        unchangedObject(z.object({ duration: optional(z.number().min(0)), display: optional(Name) })),
      ),
      attachments: optional(list(unchangedObject(KnownAttachment), MAX_ATTACHMENTS, 0)),
      transcription: optional(
        z.union([Text, OpenObject], { error: 'must be a text of at most 32 KB or an object of at most 64 KB' }),
      ),
      location: optional(Location),
      metadata: optional(OpenObject),
    })
    .check(jsonBytesAtMost(MAX_RECORDING_BYTES)),
);
export type NewRecording = z.output<typeof NewRecording>;

/** A stored recording. Objects and lists from the request are JSON text. */
export const Recording = /* @__PURE__ */ defineSchema(() =>
  z.object({
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
    /** The document id that the customer chose. */
    documentId: z.string(),
    latestVersion: z.number(),
    /** The times of creation and of the last change, in epoch ms. */
    createdAt: z.number(),
    lastUpdated: z.number(),
  }),
);
export type Recording = z.output<typeof Recording>;

const jsonFields = ['recordedTime', 'attachments', 'transcription', 'location', 'metadata'] as const;
const plainFields = ['recordingType', 'from', 'displayName'] as const;

/** Returns a new recording in its stored form. */
export function toRecording(
  request: NewRecording & { readonly annotationId: string },
  documentId: string,
  now: number,
): Recording {
  return {
    ...pickFields(request, ['annotationId', ...plainFields]),
    ...toStoredFields<NewRecording>(request, jsonFields),
    mode: request.mode ?? 'floating',
    locationKey: request.location && locationKey(request.location),
    documentId,
    latestVersion: ONLY_VERSION,
    createdAt: now,
    lastUpdated: now,
  };
}

export const RecordingResponse = /* @__PURE__ */ defineNamedSchema('Recording', () =>
  z.object({
    annotationId: z.string(),
    type: z.literal('recorder'),
    recordingType: z.enum(recordingTypes),
    mode: z.enum(recordingModes),
    from: StoredUser,
    displayName: z.string().optional(),
    recordedTime: AnyObject.optional(),
    attachments: z.array(AnyObject),
    transcription: z.union([z.string(), AnyObject]).optional(),
    location: AnyObject.optional(),
    locationId: z.string().optional(),
    latestVersion: z.number(),
    /** The times of creation and of the last change, in epoch ms. */
    createdAt: z.number(),
    lastUpdated: z.number(),
    /** The customer's own fields, and the ids of API key, organization and document. */
    metadata: AnyObject,
  }),
);
export type RecordingResponse = z.output<typeof RecordingResponse>;

/** Returns a recording in the form of responses. */
export function toRecordingResponse(
  { apiKey, organizationId }: ResponseNames,
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
 * Returns the payload of the event `recorder.done`, with the attachments as assets. A payload that would be too large has only
 * ids. A call therefore never fails because of its event.
 */
export function recorderDonePayload(names: ContentNames, recording: Recording): EventPayload {
  const { annotationId: recorderId, from } = recording;
  // A stored attachment has null where the request sent null. The schema reads null as a missing field.
  const attachments = readJson<unknown[]>(recording.attachments) ?? [];
  const assets = attachments.map((attachment) => toAsset(KnownAttachment.parse(attachment)));
  const fullPayload: EventPayload = {
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
  if (!isLongerThan(JSON.stringify(fullPayload), MAX_PAYLOAD_BYTES)) return fullPayload;
  const user = { userId: from.userId };
  return {
    ...fullPayload,
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

function toAsset({ url, mimeType, name, size, thumbnail }: KnownAttachment) {
  return {
    version: ONLY_VERSION,
    url,
    mimeType,
    fileName: name,
    fileSizeInBytes: size,
    fileFormat: findFileFormat(mimeType, name),
    thumbnailUrl: thumbnail,
  };
}

/**
 * Returns the file format for a MIME type. Without a MIME type, uses the extension of the file name. Returns undefined for an
 * unknown format.
 */
function findFileFormat(mimeType = '', name = ''): string | undefined {
  const [, subtype = ''] = /\/([^;]*)/.exec(mimeType) ?? [];
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const format = subtype === 'mpeg' ? 'mp3' : subtype || extension;
  return ['mp3', 'mp4', 'webm'].find((knownFormat) => knownFormat === format);
}
