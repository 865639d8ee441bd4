import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NewRecording, recorderDonePayload, toRecording, toRecordingResponse } from '../../../lib/recordings/rules.ts';
import { times } from '../../support/times.ts';

const NOW = 1_700_000_000_000;
const from = { userId: 'ada', name: 'Ada' };
const minimal = { annotationId: 'r', recordingType: 'audio', from } as const;
const content = {
  apiKey: 'key',
  organization: { organizationId: 'acme', organizationName: 'Acme', metadata: '{"plan":"pro"}' },
  document: { documentId: 'nda', documentName: 'NDA', folder: { folderId: 'f' } },
};
const stored = (fields: object = {}) => {
  const { annotationId = 'r', ...sent } = NewRecording.parse(JSON.parse(JSON.stringify({ ...minimal, ...fields })));
  return toRecording({ annotationId, ...sent }, 'nda', NOW);
};
const responseOf = (fields: object = {}) =>
  JSON.parse(JSON.stringify(toRecordingResponse({ apiKey: 'key', organizationId: 'acme' }, stored(fields))));
const data = (fields: object = {}, names: Parameters<typeof recorderDonePayload>[0] = content) =>
  JSON.parse(JSON.stringify(recorderDonePayload(names, stored(fields)).data));

describe('toRecording and toRecordingResponse', () => {
  test('apply defaults', () => {
    expect(responseOf()).toEqual({
      annotationId: 'r',
      type: 'recorder',
      recordingType: 'audio',
      mode: 'floating',
      from,
      attachments: [],
      latestVersion: 1,
      createdAt: NOW,
      lastUpdated: NOW,
      metadata: { apiKey: 'key', organizationId: 'acme', documentId: 'nda' },
    });
  });

  test('return a recording as it was sent, with the key of its location', () => {
    const fields = {
      mode: 'thread',
      displayName: 'A walk',
      recordedTime: { duration: 61_000, display: '1:01', more: [1] },
      attachments: [{ url: 'https://x', more: null }, {}],
      transcription: { transcriptSegments: [{ text: 'hi' }], vttFileUrl: 'https://x.vtt' },
      location: { id: 7, locationName: 'L', more: {} },
    };
    expect(responseOf(fields)).toMatchObject({ ...fields, locationId: '7' });
    expect(responseOf({ transcription: 'what was said' }).transcription).toBe('what was said');
  });

  test('overwrite metadata of the caller with the ids of the document', () => {
    expect(responseOf({ metadata: { apiKey: 'theirs', room: 1 } }).metadata).toEqual({
      room: 1,
      apiKey: 'key',
      organizationId: 'acme',
      documentId: 'nda',
    });
  });

  test('keep objects exactly, including __proto__ keys', () => {
    const odd = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(odd, (object) =>
        expect(stored({ transcription: object }).transcription).toBe(JSON.stringify(object)),
      ),
    );
    expect(JSON.stringify(responseOf(JSON.parse('{"attachments":[{"__proto__":1}]}')).attachments)).toBe(
      '[{"__proto__":1}]',
    );
  });

  test.each([
    ['a transcription that is a number', { transcription: 1 }, ['transcription']],
    ['an empty location', { location: {} }, ['location']],
    ['more than 256 KB in all', { attachments: times(5, () => ({ x: 'x'.repeat(60_000) })) }, []],
  ])('reject %s', (_what, fields, path) => {
    expect(NewRecording.safeParse({ ...minimal, ...fields }).error?.issues[0]?.path).toEqual(path);
  });
});

describe('recorderDonePayload', () => {
  test('returns user, document and the attachments as assets', () => {
    expect(
      data({
        attachments: [
          {
            attachmentId: 1,
            name: 'walk.webm',
            url: 'https://x/walk',
            mimeType: 'video/webm;codecs=vp9',
            size: 9,
            thumbnail: 'https://x/t',
          },
          { name: 'Talk.MP3' },
        ],
        transcription: { contentSummary: 's' },
        location: { id: 'l' },
      }),
    ).toEqual({
      actionUser: from,
      recorderId: 'r',
      from,
      transcription: { contentSummary: 's' },
      metadata: {
        apiKey: 'key',
        organization: { plan: 'pro', organizationId: 'acme', organizationName: 'Acme' },
        document: { documentId: 'nda', documentName: 'NDA' },
        folderId: 'f',
        locations: [{ id: 'l' }],
      },
      ...Object.fromEntries(
        ['assets', 'assetsAllVersions'].map((list) => [
          list,
          [
            {
              version: 1,
              url: 'https://x/walk',
              mimeType: 'video/webm;codecs=vp9',
              fileName: 'walk.webm',
              fileSizeInBytes: 9,
              fileFormat: 'webm',
              thumbnailUrl: 'https://x/t',
            },
            { version: 1, fileName: 'Talk.MP3', fileFormat: 'mp3' },
          ],
        ]),
      ),
    });
  });

  test.each([
    ['audio/mpeg', undefined, 'mp3'],
    ['audio/mp4', 'x.webm', 'mp4'],
    ['video/quicktime', 'x.mov', undefined],
    [undefined, 'x', undefined],
    [undefined, undefined, undefined],
  ])('the format of %s %s is %s', (mimeType, name, fileFormat) => {
    expect(data({ attachments: [{ mimeType, name }] }).assets[0].fileFormat).toBe(fileFormat);
  });

  test('reads null in an attachment as a missing field', () => {
    const attachments = [{ attachmentId: 1, name: null, url: null, mimeType: null, size: null, thumbnail: null }];
    expect(data({ attachments }).assets).toEqual([{ version: 1 }]);
  });

  test('has its own source and no audience', () => {
    expect(recorderDonePayload(content, stored())).toEqual({ source: 'recorder', data: expect.anything() });
  });

  test('is reduced to ids above 256 KB', () => {
    const large = {
      attachments: times(4, () => ({ url: 'u'.repeat(32_000) })),
      transcription: { x: 'x'.repeat(60_000) },
    };
    const names = {
      ...content,
      organization: { ...content.organization, metadata: JSON.stringify({ x: 'x'.repeat(65_000) }) },
    };
    expect(data(large, names)).toEqual({
      actionUser: { userId: 'ada' },
      metadata: { apiKey: 'key', organization: { organizationId: 'acme' }, document: { documentId: 'nda' } },
      recorderId: 'r',
      from: { userId: 'ada' },
      assets: [],
      assetsAllVersions: [],
      truncated: true,
    });
  });
});
