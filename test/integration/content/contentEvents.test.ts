import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import { triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import { MAX_PAYLOAD_BYTES } from '../../../lib/events/rules/payload.ts';
import { Table, type WriteOp } from '../../../lib/table/table.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { type Emitted, nda } from '../../support/content.ts';
import { ada, addThreads, comment, thread } from '../../support/threads.ts';

const { customer, itemsOf, emitted } = acmeWorld({ table: 'memory' });
afterEach(() => void jest.restoreAllMocks());
beforeEach(async () => {
  await customer.addOrganizations([{ organizationId: nda.organizationId, organizationName: 'Acme' }]);
  await customer.addDocuments([{ documentId: nda.documentId, documentName: 'NDA', metadata: { client: 'Initech' } }], {
    folderId: 'contracts',
    createFolder: true,
  });
});

/** The sizes of a large free field (`OBJECT`) and of a large text (`TEXT`), in bytes. */
const [OBJECT, TEXT] = [60_000, 32_000];
const bob = { userId: 'bob', name: 'Bob' };
const visibility = { type: 'restricted', userIds: ['bob', 'eve'] };

/**
 * Fields that are added to every thread, comment, status and priority. They are empty, or nearly as large as allowed.
 */
const sizes = {
  'of usual size': { object: {}, comment: {}, thread: {} },
  'as large as it may be': {
    object: { note: 'n'.repeat(OBJECT) },
    comment: {
      commentText: 't'.repeat(TEXT),
      commentHtml: 'h'.repeat(TEXT),
      metadata: { note: 'm'.repeat(OBJECT) },
      attachments: [{ note: 'a'.repeat(OBJECT) }],
    },
    thread: { metadata: { note: 'm'.repeat(OBJECT) }, targetElement: { note: 'e'.repeat(OBJECT) } },
  },
};
type Size = (typeof sizes)[keyof typeof sizes];

type Step = [event: string, path: string, data: object];

/** Returns requests that change one thread, each with the type of the event that it emits. `flags` ask for events. */
function stepsOf(annotationId: string, { object, ...size }: Size, flags: object): Step[] {
  const of = (data: object) => ({ ...nda, annotationId, ...flags, ...data });
  const change = (updatedData: object) => ({
    ...nda,
    annotationIds: [annotationId],
    updatedData,
    actionUser: bob,
    ...flags,
  });
  const [ADD, UPDATE] = ['/v2/commentannotations/add', '/v2/commentannotations/update'];
  return [
    [
      'comment_annotation.add',
      ADD,
      {
        ...nda,
        commentAnnotations: [
          thread(annotationId, {
            type: 'suggestion',
            visibility,
            location: { id: 'page-1', locationName: 'Page 1' },
            ...size.thread,
            commentData: [comment({ ...size.comment, ...flags })],
          }),
        ],
      },
    ],
    [
      'comment.add',
      '/v2/commentannotations/comments/add',
      { ...nda, annotationId, commentData: [comment({ from: bob, ...size.comment, ...flags })] },
    ],
    [
      'comment.update',
      '/v2/commentannotations/comments/update',
      of({ commentIds: [2], updatedData: { commentText: 'other' } }),
    ],
    ['comment_annotation.status_change', UPDATE, change({ status: { id: 'BLOCKED', name: 'Blocked', ...object } })],
    ['comment_annotation.assign', UPDATE, change({ assignedTo: { userId: 'eve', name: 'Eve' } })],
    ['comment_annotation.priority_change', UPDATE, change({ priority: { id: 'P1', name: 'High', ...object } })],
    ['comment_annotation.custom_list_change', UPDATE, change({ customList: [{ id: 'a' }] })],
    ['comment_annotation.subscribe', UPDATE, change({ subscribedUsers: [bob] })],
    ['comment_annotation.unsubscribe', UPDATE, change({ unsubscribedUsers: [bob] })],
    ['comment_annotation.suggestion_accept', UPDATE, change({ suggestion: { status: 'accepted', ...object } })],
    ['comment_annotation.suggestion_reject', UPDATE, change({ suggestion: { status: 'rejected', ...object } })],
    ['comment.delete', '/v2/commentannotations/comments/delete', of({ commentIds: [2] })],
  ];
}

/** Returns requests that change reactions. Reactions emit events without `triggerNotification`. */
const reactionSteps = (annotationId: string): Step[] => [
  [
    'comment.reaction_add',
    '/v2/reactions/add',
    {
      ...nda,
      reactions: [
        { annotationId: `r-${annotationId}`, icon: '+', from: bob, commentAnnotationId: annotationId, commentId: 1 },
      ],
    },
  ],
  [
    'comment.reaction_delete',
    '/v2/reactions/delete',
    { ...nda, annotationIds: [`r-${annotationId}`], actionUser: bob },
  ],
];

/** Returns the types of the events that are not in `seenIds`. Adds their ids to it. */
async function newEvents(seenIds: Set<string>): Promise<string[]> {
  const events = (await itemsOf('Event')).filter(({ eventId }) => !seenIds.has(eventId));
  for (const { eventId } of events) seenIds.add(eventId);
  return events.map(({ event }) => event);
}

/** The schemas of the fields that an event of the source `comment` has. */
const User = z.looseObject({ userId: z.string().min(1) });
const EventScope = (whole: boolean) =>
  z.strictObject({
    apiKey: z.string(),
    organization: z.looseObject({
      organizationId: z.literal('acme'),
      ...(whole && { organizationName: z.literal('Acme') }),
    }),
    document: z.looseObject({
      documentId: z.literal('nda'),
      ...(whole && { documentName: z.literal('NDA'), client: z.literal('Initech') }),
    }),
    ...(whole && {
      folderId: z.literal('contracts'),
      locations: z.tuple([z.looseObject({ id: z.literal('page-1'), locationName: z.literal('Page 1') })]),
    }),
  });
const Comment = z.looseObject({
  commentId: z.int(),
  type: z.literal('text'),
  from: User,
  createdAt: z.int(),
  lastUpdated: z.iso.datetime(),
  status: z.enum(['added', 'updated']),
});
const Annotation = z.looseObject({
  annotationId: z.string(),
  type: z.literal('suggestion'),
  sourceType: z.literal('rest-api'),
  comments: z.array(Comment),
  commentCount: z.int().min(1),
  from: User,
  status: z.looseObject({ id: z.string() }),
  involvedUserIds: z.array(z.string()),
  mentionedUserIds: z.array(z.string()),
  createdAt: z.int(),
  lastUpdated: z.int(),
  locationId: z.literal('page-1'),
  visibility: z.looseObject({ type: z.literal('restricted') }),
});
const Reduced = {
  annotation: z.looseObject({ annotationId: z.string(), commentCount: z.int() }),
  comment: z.looseObject({ commentId: z.int(), from: User }),
};
const Named = z.looseObject({ id: z.string() });

function payloadSchema(event: string, whole: boolean) {
  const aboutComment = event.startsWith('comment.') || event === 'comment_annotation.add';
  return z.strictObject({
    actionUser: User,
    commentAnnotation: whole ? Annotation : Reduced.annotation,
    ...(aboutComment && { targetComment: whole ? Comment : Reduced.comment }),
    metadata: EventScope(whole),
    ...(event === 'comment_annotation.status_change' && { oldStatus: Named, newStatus: Named }),
    ...(event === 'comment_annotation.priority_change' && { newPriority: Named }),
    visibility: z.strictObject({
      type: z.literal('restricted'),
      userIds: z.tuple([z.literal('bob'), z.literal('eve')]),
    }),
    ...(!whole && { truncated: z.literal(true) }),
  });
}

function expectPayload({ event, data }: Emitted): void {
  const { success, error } = payloadSchema(event, data.truncated !== true).safeParse(data);
  expect([event, success, error?.issues]).toEqual([event, true, undefined]);
}

describe.each(Object.entries(sizes))('a thread %s', (_what, size) => {
  test('emits one complete event of at most 256 KB for each change with triggerNotification, in its transaction', async () => {
    const transactions: (readonly WriteOp[])[] = [];
    const write = Table.prototype.write;
    jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
      const outcome = await write.call(this, ops);
      if (outcome === 'done') transactions.push(ops);
      return outcome;
    });
    const seenIds = new Set<string>();
    const expectEvents = async ([event, path, data]: Step, expected: string[]) => {
      const { status, body } = await customer.call(path, data);
      expect([event, status, body.error]).toEqual([event, 200, undefined]);
      expect([event, await newEvents(seenIds)]).toEqual([event, expected]);
    };
    for (const step of stepsOf('quiet', size, {})) await expectEvents(step, []);
    for (const step of stepsOf('loud', size, { triggerNotification: true })) {
      await expectEvents(step, [step[0]]);
      // When a request is repeated, it changes nothing and emits no event. comments/update emits its event again.
      // comments/add is left out, because it adds another comment.
      if (step[0] !== 'comment.add') await expectEvents(step, step[0] === 'comment.update' ? [step[0]] : []);
    }
    for (const step of reactionSteps('loud')) {
      await expectEvents(step, [step[0]]);
      await expectEvents(step, []);
    }

    const events = await emitted();
    // No endpoint accepts, rejects or approves a thread, so these events never occur.
    const others = ['comment_annotation.accept', 'comment_annotation.reject', 'comment_annotation.approve'];
    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set(triggerTypes.filter((type) => type.startsWith('comment') && !others.includes(type))),
    );
    for (const event of events) expectPayload(event);
    expect(events.some(({ data }) => data.truncated)).toBe(size === sizes['as large as it may be']);
    for (const { payload } of await itemsOf('EventPayload'))
      expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);

    const isEvent = (op: WriteOp) => 'put' in op && op.put._t === 'Event';
    const isContent = (op: WriteOp) => 'put' in op && ['Thread', 'Comment', 'Reaction'].includes(op.put._t as string);
    expect(transactions.flatMap((ops) => ops.filter(isEvent))).toHaveLength(events.length);
    for (const ops of transactions.filter((ops) => ops.some(isEvent)))
      expect([ops.filter(isEvent).length, ops.some(isContent)]).toEqual([1, true]);
  });

  test('emits one comment.delete for its deletion. Adding a recording emits one recorder.done', async () => {
    await addThreads(customer, [
      thread('a', {
        type: 'suggestion',
        visibility,
        location: { id: 'page-1', locationName: 'Page 1' },
        ...size.thread,
        commentData: [comment(size.comment), comment()],
      }),
    ]);
    await customer.ok('/v2/commentannotations/delete', {
      ...nda,
      annotationIds: ['a'],
      triggerNotification: true,
      actionUser: bob,
    });
    await customer.addRecordings([
      {
        annotationId: 'rec',
        recordingType: 'audio',
        from: ada,
        location: { id: 'page-1', locationName: 'Page 1' },
        transcription: 'note' in size.object ? { contentSummary: 's'.repeat(OBJECT) } : 'hi',
        attachments: [{ name: 'a.mp3', url: 'https://files.example.com/a.mp3', mimeType: 'audio/mpeg', size: 1 }],
      },
    ]);
    const [deleted, recorded] = (await emitted()).toSorted((a, b) => (a.event < b.event ? -1 : 1)) as [
      Emitted,
      Emitted,
    ];
    expect([
      deleted.event,
      deleted.data.actionUser.userId,
      deleted.data.commentAnnotation.annotationId,
      deleted.data.visibility,
    ]).toEqual(['comment.delete', 'bob', 'a', visibility]);
    expect(recorded).toMatchObject({
      event: 'recorder.done',
      data: { actionUser: ada, recorderId: 'rec', from: ada, metadata: { locations: [{ id: 'page-1' }] } },
    });
    const asset = {
      version: 1,
      url: 'https://files.example.com/a.mp3',
      mimeType: 'audio/mpeg',
      fileName: 'a.mp3',
      fileSizeInBytes: 1,
      fileFormat: 'mp3',
    };
    expect([recorded.data.assets, recorded.data.assetsAllVersions]).toEqual([[asset], [asset]]);
  });
});
