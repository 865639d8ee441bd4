import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventTypes, triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import type { EventPayload } from '../../../lib/events/rules/payload.ts';
import { advancedActionType, basicActionType } from '../../../lib/webhooks/rules/actionTypes.ts';
import { protectData } from '../../../lib/webhooks/rules/dataProtection.ts';
import {
  advancedPayload,
  type AudienceLevels,
  type BasicOptions,
  basicPayload,
  type DeliverableEvent,
} from '../../../lib/webhooks/rules/payloads.ts';
import { retryAfterSeconds } from '../../../lib/webhooks/rules/retryAfter.ts';
import { sampleEvent } from '../../../lib/webhooks/rules/samples.ts';
import { fillTemplates } from '../../../lib/webhooks/rules/templates.ts';
import { testProperty } from '../../support/testProperty.ts';

const AT = Date.UTC(2026, 10, 21, 12);
const TIMESTAMP = '2026-11-21T12:00:00.000Z';

const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
const metadata = {
  apiKey: 'key_1',
  organization: { organizationId: 'acme', organizationName: 'Acme', plan: 'gold' },
  document: { documentId: 'notes', documentName: 'Notes' },
  folderId: 'drafts',
  pageInfo: { url: 'https://example.com/notes', title: 'Notes' },
};
const thread = {
  annotationId: 'ann_1',
  from: ada,
  comments: [{ commentId: 1, commentText: 'Hello', commentHtml: '<p>Hello</p>', from: ada }],
};

function stored(
  event: string,
  data: EventPayload['data'] = {},
  source: EventPayload['source'] = 'comment',
): DeliverableEvent {
  return {
    eventId: 'msg_1',
    event,
    createdAt: AT,
    payload: {
      source,
      data: { actionUser: ada, metadata, ...data },
      audience: { actorId: 'ada', addressed: ['grace'], following: [] },
    },
  };
}

const advanced = (event: DeliverableEvent, enableDataProtection = false, levels?: AudienceLevels) =>
  JSON.parse(advancedPayload(event, { config: { enableDataProtection }, levels }));
const basic = (event: DeliverableEvent, options: Partial<BasicOptions> = {}) =>
  JSON.parse(basicPayload(event, { config: {}, ...options }));

describe('the action type of an event', () => {
  test('is the event type without its group in advanced payloads', () => {
    expect(
      [
        'comment.add',
        'crdt.update_data',
        'comment_annotation.status_change',
        'step.awaiting-approval',
        'message.attempt.exhausted',
      ].map(advancedActionType),
    ).toEqual(['add', 'updateData', 'statusChange', 'awaitingApproval', 'attemptExhausted']);
    for (const type of eventTypes) expect(advancedActionType(type)).toMatch(/^[a-z][A-Za-z]*$/);
  });

  test('is one published verb for each trigger in basic payloads', () => {
    expect(Object.fromEntries(triggerTypes.map((type) => [type, basicActionType(type)]))).toEqual({
      'comment_annotation.add': 'newlyAdded',
      'comment_annotation.assign': 'assigned',
      'comment_annotation.status_change': 'statusChanged',
      'comment_annotation.priority_change': 'priorityChanged',
      'comment_annotation.custom_list_change': 'customListChanged',
      'comment_annotation.subscribe': 'subscribed',
      'comment_annotation.unsubscribe': 'unsubscribed',
      'comment_annotation.accept': 'accepted',
      'comment_annotation.reject': 'rejected',
      'comment_annotation.approve': 'approved',
      'comment_annotation.suggestion_accept': 'suggestionAccepted',
      'comment_annotation.suggestion_reject': 'suggestionRejected',
      'comment.add': 'added',
      'comment.update': 'updated',
      'comment.delete': 'deleted',
      'comment.reaction_add': 'reactionAdded',
      'comment.reaction_delete': 'reactionDeleted',
      'huddle.create': 'created',
      'huddle.join': 'join',
      'crdt.update_data': 'updateData',
      'crdt.version_restore': 'versionRestore',
      'recorder.done': 'done',
    });
  });
});

describe('advancedPayload', () => {
  test('has event, action type, message id, time and the stored data', () => {
    const event = stored('comment_annotation.status_change', {
      commentAnnotation: thread,
      oldStatus: { id: 'OPEN' },
      newStatus: { id: 'RESOLVED' },
      visibility: { type: 'restricted', userIds: ['ada'] },
    });
    expect(advanced(event)).toEqual({
      event: 'comment_annotation.status_change',
      actionType: 'statusChange',
      source: 'comment',
      webhookId: 'msg_1',
      timestamp: TIMESTAMP,
      data: event.payload.data,
    });
  });

  test('has the notification levels of users for the document', () => {
    const levels = { ada: { inbox: 'ALL', email: 'MINE' } } as const;
    for (const protect of [true, false])
      expect(advanced(stored('comment.add'), protect, levels)).toMatchObject({
        usersDocumentNotificationsConfig: levels,
      });
    expect(advanced(stored('comment.add'))).not.toHaveProperty('usersDocumentNotificationsConfig');
  });

  test('never contains the audience of the event', () => {
    for (const protect of [true, false])
      expect(
        JSON.stringify([
          advanced(stored('comment.add'), protect),
          basic(stored('comment.add'), { config: { enableDataProtection: protect } }),
        ]),
      ).not.toContain('grace');
  });

  test('keeps fields with any name', () => {
    const data = JSON.parse('{"metadata":{"apiKey":"key_1","__proto__":{"a":1},"constructor":"c"},"__proto__":"x"}');
    expect(
      advancedPayload({ ...stored('comment.add'), payload: { source: 'comment', data } }, { config: {} }),
    ).toContain(JSON.stringify(data));
  });
});

describe('basicPayload', () => {
  const event = stored('comment.add', {
    commentAnnotation: { ...thread, assignedTo: ada },
    targetComment: thread.comments[0],
    visibility: { type: 'restricted', userIds: ['ada'] },
  });

  test('is flat and has the ids of the customer in its metadata', () => {
    expect(basic(event)).toEqual({
      webhookId: 'msg_1',
      actionType: 'added',
      notificationSource: 'comment',
      timestamp: TIMESTAMP,
      actionUser: ada,
      commentAnnotation: event.payload.data.commentAnnotation,
      targetComment: thread.comments[0],
      visibility: { type: 'restricted', userIds: ['ada'] },
      assigned: true,
      accessDeniedUsers: [],
      metadata: {
        apiKey: 'key_1',
        folderId: 'drafts',
        pageInfo: metadata.pageInfo,
        clientOrganizationId: 'acme',
        organizationId: 'acme',
        organizationName: 'Acme',
        organizationMetadata: { plan: 'gold' },
        clientDocumentId: 'notes',
        documentId: 'notes',
        documentName: 'Notes',
      },
    });
  });

  test('says whether the thread is assigned and which users may not see it', () => {
    expect(
      basic(stored('comment_annotation.assign', { commentAnnotation: { ...thread, assignedTo: null } }), {
        accessDeniedUsers: ['eve'],
      }),
    ).toMatchObject({ assigned: false, accessDeniedUsers: ['eve'] });
  });

  test("has only the fields of the event's source", () => {
    const crdtData = { id: 'editor-1', data: 'text', lastUpdatedBy: 'ada', sessionId: null, lastUpdate: TIMESTAMP };
    const crdt = basic(stored('crdt.update_data', { crdtData }, 'crdt'));
    expect(crdt).toMatchObject({
      actionType: 'updateData',
      notificationSource: 'crdt',
      crdtData,
      accessDeniedUsers: [],
    });
    expect(crdt).not.toHaveProperty('assigned');
    const huddle = basic(stored('huddle.join', {}, 'huddle'));
    expect(Object.keys(huddle).sort()).toEqual([
      'actionType',
      'actionUser',
      'metadata',
      'notificationSource',
      'timestamp',
      'webhookId',
    ]);
  });

  test('does not let published data replace the id or the type', () => {
    expect(
      basic(
        stored('comment.add', {
          webhookId: 'mine',
          actionType: 'mine',
          notificationSource: 'mine',
          timestamp: 'mine',
          assigned: 'mine',
          accessDeniedUsers: 'mine',
        }),
      ),
    ).toMatchObject({
      webhookId: 'msg_1',
      actionType: 'added',
      notificationSource: 'comment',
      timestamp: TIMESTAMP,
      assigned: false,
      accessDeniedUsers: [],
    });
  });

  test.each([
    [{}],
    [{ metadata: undefined }],
    [{ metadata: null }],
    [{ metadata: 'text', commentAnnotation: 7 }],
    [{ metadata: { organization: null, document: 'x' }, commentAnnotation: null }],
  ])('returns a payload for any published data: %j', (data) => {
    const odd = { ...stored('comment.add'), payload: { source: 'comment' as const, data } };
    for (const enrichment of [undefined, { organizationName: 'Acme', recipients: [] }])
      for (const enableDataProtection of [true, false]) {
        expect(basic(odd, { config: { enableDataProtection }, ...(enrichment && { enrichment }) })).toMatchObject({
          webhookId: 'msg_1',
          assigned: false,
        });
        expect(advanced(odd, enableDataProtection)).toMatchObject({ webhookId: 'msg_1' });
      }
  });

  test('has names, recipients and filled templates for the processed URL only', () => {
    const renamed = {
      ...metadata,
      organization: { organizationId: 'acme' },
      document: { documentId: 'notes', documentName: 'Old name' },
    };
    const notified = stored('comment.add', {
      metadata: renamed,
      displayHeadlineMessageTemplate: '{actionUser} replied to {recipientUser}',
      displayHeadlineMessageTemplateData: { actionUser: ada, recipientUser: { userId: 'grace' } },
    });
    const raw = basic(notified);
    expect(raw).not.toHaveProperty('displayHeadlineMessage');
    expect(raw).not.toHaveProperty('recipients');
    expect(raw.metadata).toMatchObject({ documentName: 'Old name' });
    expect(raw.metadata).not.toHaveProperty('organizationName');
    const processed = basic(notified, {
      enrichment: {
        organizationName: 'Acme',
        documentName: 'Notes',
        recipients: [{ userId: 'grace', name: 'Grace', email: 'grace@example.com' }],
      },
    });
    expect(processed).toMatchObject({
      displayHeadlineMessage: 'Ada replied to grace',
      recipients: [{ userId: 'grace', name: 'Grace', email: 'grace@example.com' }],
      metadata: { organizationName: 'Acme', documentName: 'Notes', documentId: 'notes' },
    });
    expect({ ...processed, displayHeadlineMessage: undefined, recipients: undefined, metadata: undefined }).toEqual({
      ...raw,
      displayHeadlineMessage: undefined,
      recipients: undefined,
      metadata: undefined,
    });
  });
});

describe('fillTemplates', () => {
  const fill = (template: string, values: unknown) =>
    fillTemplates({ displayMessageTemplate: template, displayMessageTemplateData: values }).displayMessage;

  test.each([
    ['{a} and {b}', { a: 'x', b: 2 }, 'x and 2'],
    ['{{a}}, {{ b }}', { a: 'x', b: true }, 'x, true'],
    ['{actionUser}', { actionUser: { userId: 'u', email: 'e@example.com' } }, 'e@example.com'],
    ['{actionUser} {recipientUser}', { actionUser: { userId: 'u', name: 'N' }, recipientUser: { userId: 'v' } }, 'N v'],
    ['{missing} {nothing} {list} {none}', { nothing: null, list: [1], none: {} }, '{missing} {nothing} {list} {none}'],
    ['{constructor} {__proto__} {toString}', {}, '{constructor} {__proto__} {toString}'],
    ['{a} $& $1 {b}', { a: '$&', b: '{a}' }, '$& $& $1 {a}'],
    ['{} {{}} { {a', {}, '{} {{}} { {a'],
    ['plain', undefined, 'plain'],
    ['{a}', 'text', '{a}'],
  ])('fills %j with %j to %j', (template, values, text) => {
    expect(fill(template, values)).toBe(text);
  });

  test('fills templates at any depth, and adds the text beside the template', () => {
    const nested = {
      notification: { displayBodyMessageTemplate: '{a}', displayBodyMessageTemplateData: { a: 'x' } },
      list: [{ displayMessageTemplate: 'y' }],
      displayTemplate: 'z',
      template: '{a}',
    };
    expect(fillTemplates(nested)).toEqual({
      ...nested,
      notification: { ...nested.notification, displayBodyMessage: 'x' },
      list: [{ displayMessageTemplate: 'y', displayMessage: 'y' }],
    });
  });

  test('leaves out a text that does not fit into 64 KB together with the texts before it', () => {
    const template = (count: number) => ({
      displayMessageTemplate: '{a}'.repeat(count),
      displayMessageTemplateData: { a: 'x'.repeat(10_000) },
    });
    const filled = fillTemplates({ list: [template(10_000), template(4), template(4), template(1)] });
    const texts = (filled.list as { displayMessage?: string }[]).map(({ displayMessage }) => displayMessage?.length);
    expect(texts).toEqual([undefined, 40_000, undefined, 10_000]);
  });
});

describe('enableDataProtection', () => {
  /** Personal data and texts of users in the samples. A protected payload must not contain any of them. */
  const personal = [
    'Ada',
    'Grace',
    '@example',
    'engine',
    'machine',
    'Yes, please',
    'Acme',
    'Notes',
    'Chapter',
    'https://',
    'rec-5b1.mp4',
    'Hello',
    'algebraic',
    'Wording',
    '<p>',
  ];

  test.each(eventTypes)('removes personal data and user texts from %s', (type) => {
    const event = { ...sampleEvent(type, 'key_1'), eventId: 'msg_1', createdAt: AT };
    const enrichment = { organizationName: 'Acme', documentName: 'Notes', recipients: [ada] };
    const config = { enableDataProtection: true };
    for (const text of [
      advancedPayload(event, { config }),
      basicPayload(event, { config }),
      basicPayload(event, { config, enrichment }),
    ]) {
      expect(personal.filter((part) => text.includes(part))).toEqual([]);
    }
  });

  test('keeps ids and structure', () => {
    const { payload } = sampleEvent('comment_annotation.status_change', 'key_1');
    expect(protectData(payload.data)).toEqual({
      actionUser: { userId: 'ada' },
      metadata: { apiKey: 'key_1', organization: { organizationId: 'acme' }, document: { documentId: 'notes' } },
      commentAnnotation: {
        annotationId: 'ann-7f3c',
        type: 'comment',
        commentType: 'manual',
        from: { userId: 'ada' },
        status: { id: 'RESOLVED', type: 'terminal' },
        location: { id: 'chapter-1' },
        comments: [
          {
            commentId: 153783,
            type: 'text',
            status: 'added',
            from: { userId: 'ada' },
            to: [{ userId: 'grace' }],
            taggedUserContacts: [{ userId: 'grace', contact: { userId: 'grace' } }],
            attachments: [],
            createdAt: expect.any(Number),
            lastUpdated: expect.any(String),
          },
        ],
        involvedUserIds: ['ada', 'grace'],
        mentionedUserIds: ['grace'],
        resolvedByUserId: 'ada',
        createdAt: expect.any(Number),
        lastUpdated: expect.any(Number),
      },
      oldStatus: { id: 'OPEN', type: 'default' },
      newStatus: { id: 'RESOLVED', type: 'terminal' },
    });
  });

  test('removes unknown keys and their values at any depth', () => {
    const secret = fc.string({ minLength: 1 }).map((text) => `<secret ${text}>`);
    const knownValue = fc.constantFrom(
      'commentAnnotation',
      'metadata',
      'comments',
      'from',
      'document',
      'attachments',
      'crdtData',
      'userId',
      'id',
      'status',
      'userIds',
      'reactionAnnotations',
    );
    const freeFields = fc.constantFrom(
      'status',
      'type',
      'mimeType',
      'newPriority',
      'createdAt',
      'name',
      'email',
      'photoUrl',
      'commentText',
      'commentHtml',
      'data',
      'url',
      'text',
      'displayMessage',
      'documentName',
      'emailId',
      '__proto__',
      'constructor',
    );
    const { data } = fc.letrec((tie) => ({
      // Ids are not removed from payloads, so the secrets are only in other fields.
      free: fc.oneof(
        secret,
        fc.array(secret, { maxLength: 3 }),
        fc.dictionary(secret, secret, { maxKeys: 3 }),
        fc.dictionary(fc.oneof(freeFields, secret), fc.oneof(secret, tie('data')), { maxKeys: 3 }),
      ),
      data: fc
        .array(
          fc.oneof(
            fc.tuple(fc.oneof(freeFields, secret), tie('free')),
            fc.tuple(knownValue, fc.oneof(tie('data'), fc.array(tie('data'), { maxLength: 3 }), fc.integer())),
          ),
          { maxLength: 4 },
        )
        .map((entries) => Object.fromEntries(entries as [string, unknown][])),
    }));
    fc.assert(
      fc.property(data as fc.Arbitrary<Record<string, unknown>>, (made) => {
        expect(JSON.stringify(protectData(made))).not.toContain('<secret');
      }),
      { numRuns: 2_000 },
    );
  });

  test('removes texts from lists', () => {
    expect(
      protectData({
        comments: ['text', { id: 1 }, 7, ['text']],
        userIds: ['ada', { name: 'Ada' }, 7],
        status: ['Ada'],
        type: { id: 'Ada' },
      }),
    ).toEqual({ comments: [{ id: 1 }, []], userIds: ['ada', 7], status: [] });
  });

  test('keeps only ids in objects whose keys customers choose', () => {
    const own = { id: 'x1', type: 'Ada', status: 'Ada', version: 7, at: 'Ada' };
    expect(
      protectData({
        type: 'comment',
        metadata: { ...own, document: { documentId: 'notes', ...own, agent: own }, locations: [own] },
        actionUser: { userId: 'ada', ...own },
        commentAnnotation: { type: 'comment', suggestion: { ...own, from: own } },
      }),
    ).toEqual({
      type: 'comment',
      metadata: {
        id: 'x1',
        document: { documentId: 'notes', id: 'x1', agent: { id: 'x1' } },
        locations: [{ id: 'x1' }],
      },
      actionUser: { userId: 'ada', id: 'x1' },
      commentAnnotation: { type: 'comment', suggestion: { id: 'x1', from: { id: 'x1' } } },
    });
  });

  test.each([
    ['comment', true],
    ['awaiting-approval', true],
    ['video/mp4', true],
    [TIMESTAMP, true],
    ['Ada Lovelace', false],
    ['ada@example.com', false],
    ['', false],
    ['x'.repeat(65), false],
    [7, true],
    [false, true],
    [null, true],
  ])('keeps the value %j of a keyword field: %j', (value, through) => {
    expect(protectData({ status: value })).toEqual(through ? { status: value } : {});
  });

  test('leaves payloads unchanged by default', () => {
    expect(advanced(stored('comment.add', { commentAnnotation: thread })).data.commentAnnotation).toEqual(thread);
  });
});

describe('sampleEvent', () => {
  test.each(eventTypes)('returns a complete sample of %s', (type) => {
    const { event, payload, organizationId, documentId } = sampleEvent(type, 'key_1');
    expect([event, organizationId, documentId]).toEqual([type, 'acme', 'notes']);
    expect(payload.data).toMatchObject({ metadata: { apiKey: 'key_1' } });
    expect(payload.source === 'operational' || 'actionUser' in payload.data).toBe(true);
    const [group = ''] = type.split('.');
    expect(payload.source).toBe(
      {
        comment_annotation: 'comment',
        comment: 'comment',
        huddle: 'huddle',
        crdt: 'crdt',
        recorder: 'recorder',
        message: 'operational',
        endpoint: 'operational',
      }[group] ?? 'workflow',
    );
    expect(JSON.parse(JSON.stringify(payload))).toEqual(payload);
  });
});

describe('retryAfterSeconds', () => {
  const now = Date.UTC(2026, 10, 21, 12);

  test.each<[string | undefined, number | undefined]>([
    ['120', 120],
    [' 7 ', 7],
    ['1', 1],
    ['86400', 86_400],
    ['999999999', 86_400],
    ['0', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['12 s', undefined],
    ['9'.repeat(400), undefined],
    ['Sat, 21 Nov 2026 12:01:00 GMT', 60],
    ['Sat, 21 Nov 2026 11:59:59 GMT', undefined],
    ['Sat, 21 Nov 2026 12:00:00 GMT', undefined],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
    ['Saturday, 21-Nov-26 12:01:00 GMT', 60],
    ['Sat Nov 21 12:01:00 2026', 60],
    ['2026-11-21T12:01:00Z', undefined],
    ['tomorrow', undefined],
    ['', undefined],
    [undefined, undefined],
    ['Sat, 99 Nov 2026 12:01:00 GMT', undefined],
    ['Sat, 21 Xyz 2026 12:01:00 GMT', undefined],
    ['2027', 2_027],
  ])('parses %j as %j seconds', (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
  });

  testProperty(
    'returns a whole number of seconds within a day, or undefined, for any text',
    [
      fc.oneof(
        fc.string(),
        fc.integer().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
    ],
    (header) => {
      const seconds = retryAfterSeconds(header, now);
      expect(seconds === undefined || (Number.isInteger(seconds) && seconds > 0 && seconds <= 86_400)).toBe(true);
    },
  );
});
