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
import {
  changedFieldsWithoutPersonal,
  isMadeBy,
  type RemovedUsers,
  withChanges,
} from '../content/rules/removedUsers.ts';
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
const recordingModes = ['floating', 'thread'] as const;

const MAX_ATTACHMENTS = 50;
/** DynamoDB limits an item to 400 KB. */
const MAX_RECORDING_BYTES = 256 * 1024;
/** No endpoint adds a second version. */
const ONLY_VERSION = 1;

const KnownAttachment = /* @__PURE__ */ defineSchema(() =>
  z.object({
    attachmentId: optional(z.number()).describe('Your own number of the file.'),
    name: optional(Name).describe('The file name.'),
    url: optional(Text).describe('Where the file is. Receivers of `recorder.done` get it as `url` of an asset.'),
    size: optional(z.number().min(0)).describe('The size of the file in bytes.'),
    mimeType: optional(Name).describe('The media type of the file, for example `audio/mp3`.'),
    thumbnail: optional(Text).describe('Where a picture of the file is.'),
  }),
);
type KnownAttachment = z.output<typeof KnownAttachment>;

export const NewRecording = /* @__PURE__ */ defineNamedSchema('RecordingInput', () =>
  z
    .object({
      annotationId: optional(Id).describe('The id of the new recording. By default the service chooses one.'),
      recordingType: z.enum(recordingTypes).describe('What was recorded.'),
      mode: optional(z.enum(recordingModes)).describe('Where clients show the recording. By default `floating`.'),
      from: ContentUser.describe('The user who recorded.'),
      displayName: optional(Name).describe('The title that users see.'),
      recordedTime: optional(
        unchangedObject(
          z.object({
            duration: optional(z.number().min(0)).describe('The length in milliseconds.'),
            display: optional(Name).describe('The length as users see it, for example `1:30`.'),
          }),
        ),
      ).describe('How long the recording is.'),
      attachments: optional(list(unchangedObject(KnownAttachment), MAX_ATTACHMENTS, 0)).describe(
        'The files of the recording. Other fields of a file are stored unchanged.',
      ),
      transcription: optional(
        z.union([Text, OpenObject], { error: 'must be a text of at most 32 KB or an object of at most 64 KB' }),
      ).describe('What was said, as text or as an object of yours.'),
      location: optional(Location).describe('Where in the document the recording is.'),
      metadata: optional(OpenObject).describe(
        'Own fields. Answers return them, beside the ids of the API key, organization and document.',
      ),
    })
    .check(jsonBytesAtMost(MAX_RECORDING_BYTES))
    .describe('A recording to add.'),
);
export type NewRecording = z.output<typeof NewRecording>;

/** Objects and lists of the request, except `from`, are JSON text. */
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
    documentId: z.string(),
    latestVersion: z.number(),
    /** Epoch ms. */
    createdAt: z.number(),
    lastUpdated: z.number(),
  }),
);
export type Recording = z.output<typeof Recording>;

const jsonFields = ['recordedTime', 'attachments', 'transcription', 'location', 'metadata'] as const;
const plainFields = ['recordingType', 'from', 'displayName'] as const;

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
  z
    .object({
      annotationId: z.string().describe('The recording, by your id or the one that the service chose.'),
      type: z.literal('recorder').describe('Always `recorder`.'),
      recordingType: z.enum(recordingTypes).describe('What was recorded.'),
      mode: z.enum(recordingModes).describe('Where clients show the recording.'),
      from: StoredUser.describe('The user who recorded.'),
      displayName: z.string().describe('The title that users see.').optional(),
      recordedTime: AnyObject.describe(
        'How long the recording is: `duration` in milliseconds, `display` as users see it.',
      ).optional(),
      attachments: z.array(AnyObject).describe('The files of the recording, as they were sent.'),
      transcription: z.union([z.string(), AnyObject]).describe('What was said, as it was sent.').optional(),
      location: AnyObject.describe('Where in the document the recording is, as it was sent.').optional(),
      locationId: z
        .string()
        .describe('The key of the location: its `id` as text, otherwise a hash of the location.')
        .optional(),
      latestVersion: z.number().describe('Always 1.'),
      createdAt: z.number().describe('When the recording was added, in epoch milliseconds.'),
      lastUpdated: z.number().describe('When the recording last changed, in epoch milliseconds.'),
      metadata: AnyObject.describe('Your own fields, and the ids of the API key, organization and document.'),
    })
    .describe('A recording.'),
);
export type RecordingResponse = z.output<typeof RecordingResponse>;

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

/** A payload that would be too large has only ids, so a call never fails because of its event. */
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

/** By MIME type, or without one by the extension of the file name. Undefined if unknown. */
function findFileFormat(mimeType = '', name = ''): string | undefined {
  const [, subtype = ''] = /\/([^;]*)/.exec(mimeType) ?? [];
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const format = subtype === 'mpeg' ? 'mp3' : subtype || extension;
  return ['mp3', 'mp4', 'webm'].find((knownFormat) => knownFormat === format);
}

/** True if a removed user made the recording before the removal. */
export function isRecordingOf(
  { from, createdAt }: Pick<Recording, 'from' | 'createdAt'>,
  removed: RemovedUsers,
): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

export function eraseFromRecording(recording: Recording, removed: RemovedUsers): Recording {
  return recording.createdAt > removed.removedAt
    ? recording
    : withChanges(
        recording,
        changedFieldsWithoutPersonal(recording, ['location', 'attachments', 'transcription', 'metadata'], removed),
      );
}
