import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { contextAllows } from '../../../lib/directory/rules/access.ts';
import { createsNotifications, toInAppNotifications } from '../../../lib/notifications/inAppFanOut.ts';
import {
  annotationIdOf,
  changeNotification,
  fitsItem,
  NewNotification,
  newNotification,
  type Notification,
  NotificationId,
  notifiesUser,
  toNotificationResponse,
  userHash,
} from '../../../lib/notifications/rules.ts';
import { divideFairly } from '../../../lib/userData/rules/fairShares.ts';
import {
  changeNotificationConfig,
  initialNotificationConfig,
} from '../../../lib/workspaces/rules/notificationConfig.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const sent = {
  actionUser: { userId: 'ada' },
  notifyUsers: [{ userId: 'grace' }],
  displayHeadlineMessageTemplate: 'h',
  displayBodyMessage: 'b',
};
const made = (more: Partial<NewNotification> = {}): Notification =>
  newNotification({ ...sent, ...more }, { id: 'n', documentId: 'nda', now: 1 });
const responseOf = (notification: Notification) =>
  toNotificationResponse({ apiKey: 'key', organizationId: 'acme' }, notification);

describe('a notification', () => {
  test('is for everybody and has the source custom by default', () => {
    expect(responseOf(made())).toMatchObject({ notifyAll: true, notificationSource: 'custom' });
    const sentFields = { notifyAll: false, notificationSource: 'crdt' } as const;
    expect(responseOf(made(sentFields))).toMatchObject(sentFields);
  });

  test('contains each recipient once, as a hash of the id and a hash of the lower-case address', () => {
    const { notifyUsers, notifyUsersByUserId } = responseOf(
      made({
        notifyUsers: [
          { userId: 'Grace', email: 'Grace@Example.COM' },
          { userId: 'Grace', email: 'other@example.com' },
          { userId: 'lin' },
        ],
      }),
    );
    expect(notifyUsers).toEqual({ '9f528ceb410182ebd9d490172948f11f': true });
    expect(notifyUsersByUserId).toEqual({ [userHash('Grace')]: true, [userHash('lin')]: true });
    expect(userHash('grace')).toBe('15e5c87b18c1289d45bb4a72961b58e8');
  });

  testProperty(
    'returns source and template data as sent, and replaces reserved metadata',
    [fc.dictionary(fc.string(), fc.jsonValue())],
    (open) => {
      const json = JSON.parse(JSON.stringify(open)) as Record<string, unknown>;
      const all = responseOf(
        made({
          notificationSourceData: json,
          displayHeadlineMessageTemplateData: json,
          displayBodyMessageTemplateData: json,
          metadata: { ...json, apiKey: 'another' },
        }),
      );
      const { notificationSourceData, displayHeadlineMessageTemplateData, displayBodyMessageTemplateData } = all;
      expect([notificationSourceData, displayHeadlineMessageTemplateData, displayBodyMessageTemplateData]).toEqual(
        Array(3).fill(json),
      );
      expect(all.metadata).toEqual({ ...json, apiKey: 'key', organizationId: 'acme', documentId: 'nda' });
    },
  );

  test('keeps readers and the fields that an update does not send', () => {
    const before = made({ notificationSourceData: { a: 1 }, displayBodyMessageTemplate: 't' });
    const read = changeNotification(before, { id: 'n', readByUserIds: ['ada', 'grace'] }, undefined);
    const after = changeNotification(
      read,
      { id: 'n', displayBodyMessage: 'new', readByUserIds: ['grace', 'lin'], actionUser: { userId: 'lin' } },
      undefined,
    );
    expect(after).toEqual({
      ...before,
      displayBodyMessage: 'new',
      actionUser: { userId: 'lin' },
      readByUserIds: ['ada', 'grace', 'lin'],
      persistReadForUsers: undefined,
      thread: undefined,
    });
    expect(changeNotification(before, { id: 'n' }, undefined)).toMatchObject({
      displayBodyMessage: 'b',
      notificationSourceData: '{"a":1}',
    });
  });

  test('notifies the users in notifyUsers, not everybody and not the actor', () => {
    expect(['grace', 'ada', 'lin'].filter((userId) => notifiesUser(made(), userId))).toEqual(['grace']);
  });

  test('with an access context is only for users who have every item of that context', () => {
    const notification = made({ context: { access: { region: ['eu', 'us'], level: 1 } } });
    const fields = [['level:1', 'region:eu', 'region:us', 'x:y'], ['level:1', 'region:eu'], undefined];
    expect(fields.map((own) => contextAllows(notification, own))).toEqual([true, false, false]);
    expect(contextAllows(made(), undefined)).toBe(true);
  });

  test('has the annotation of its source data when its source is comment', () => {
    const of = (notificationSource: 'comment' | 'custom', notificationSourceData?: Record<string, unknown>) =>
      annotationIdOf({ notificationSource, notificationSourceData });
    expect([of('comment', { annotationId: 'a' }), of('custom', { annotationId: 'a' })]).toEqual(['a', undefined]);
    expect([of('comment', { annotationId: 1 }), of('comment')]).toEqual([undefined, undefined]);
  });

  test('is limited to fewer bytes than a DynamoDB item can hold', () => {
    expect(fitsItem(made({ metadata: { x: 'x'.repeat(60_000) } }))).toBe(true);
    expect(fitsItem({ ...made(), readByUserIds: times(1_000, () => 'x'.repeat(400)) })).toBe(false);
  });

  test('accepts only letters, digits, _ and - in an id', () => {
    const ids = ['a', 'A-z_0', '', 'a b', 'a:b', 'é', 'a\n', 'x'.repeat(513)];
    expect(ids.filter((id) => NotificationId.safeParse(id).success)).toEqual(['a', 'A-z_0']);
  });
});

describe('in-app notifications of an event', () => {
  const thread = {
    organizationKey: 'org',
    documentKey: 'doc',
    annotationId: 't',
    createdAt: 1,
    organizationId: 'acme',
    authorId: 'ada',
  };
  const event = (data: object = {}, more: object = {}) => ({
    tenant: 'key',
    eventId: 'msg_1',
    event: 'comment.add',
    organizationId: 'acme',
    documentId: 'nda',
    createdAt: 1_767_225_600_000,
    payload: {
      source: 'comment' as const,
      data: {
        actionUser: { userId: 'ada' },
        commentAnnotation: { annotationId: 't' },
        targetComment: { commentId: 1, commentText: 'hi' },
        ...data,
      },
      audience: { addressed: [], following: [], thread },
    },
    ...more,
  });
  const recipients = [{ userId: 'grace' }];

  test('have the same id and time for the same event, and another id for another event', () => {
    const [first] = toInAppNotifications(event(), recipients);
    expect(toInAppNotifications(event(), recipients)).toEqual([first]);
    expect(first).toMatchObject({ id: expect.stringMatching(/^ntf_[A-Za-z0-9]{27}$/), createdAt: 1_767_225_600_000 });
    expect(toInAppNotifications(event({}, { eventId: 'msg_2' }), recipients)[0]!.id).not.toBe(first!.id);
    expect(toInAppNotifications(event({}, { eventId: 'any: event / id' }), recipients)[0]!.id).toMatch(
      /^ntf_[A-Za-z0-9]{27}$/,
    );
  });

  test('are divided into notifications for at most 50 recipients each', () => {
    const many = times(71, (n) => ({ userId: `u${n}` }));
    const notifications = toInAppNotifications(event(), many);
    expect(notifications.map(({ notifyUsers }) => notifyUsers.length)).toEqual([50, 21]);
    expect(notifications.flatMap(({ notifyUsers }) => notifyUsers)).toEqual(many);
    expect(new Set(notifications.map(({ id }) => id)).size).toBe(2);
  });

  test('cut a long text at 4 KB between characters', () => {
    const [notification] = toInAppNotifications(
      event({ targetComment: { commentId: 1, commentText: '€'.repeat(5_000) } }),
      recipients,
    );
    expect(notification!.displayBodyMessage).toBe('€'.repeat(1_365));
    expect(JSON.parse(notification!.notificationSourceData!)).toEqual({
      annotationId: 't',
      commentId: 1,
      commentText: '€'.repeat(1_365),
    });
  });

  test('need recipients, a document and valid data, and for comments a thread', () => {
    expect(toInAppNotifications(event(), [])).toEqual([]);
    const nobody = { actionUser: undefined };
    const withoutThread = { ...event().payload, audience: { addressed: [], following: [] } };
    for (const each of [
      event({}, { documentId: undefined }),
      event({}, { event: 'recorder.done' }),
      event(nobody, { event: 'huddle.join' }),
      event(nobody),
      event({}, { payload: withoutThread }),
    ])
      expect(toInAppNotifications(each, recipients)).toEqual([]);
  });

  test('leave out the parts of a published comment that are missing or of another type', () => {
    const annotationId = 't';
    const events = [
      { targetComment: { commentText: 'hi' } },
      { targetComment: { commentId: 'c-1', commentText: 5 } },
      { targetComment: null, commentAnnotation: { annotationId, type: 5, location: 'top' } },
      { targetComment: { commentId: 1, context: { access: 'all' } } },
    ].map((data) => toInAppNotifications(event(data), recipients));
    expect(events.map(([made]) => made && JSON.parse(made.notificationSourceData!))).toEqual([
      { annotationId, commentText: 'hi' },
      { annotationId, commentText: '' },
      { annotationId },
      undefined,
    ]);
  });

  test('need the service and the trigger to be on', () => {
    const on = changeNotificationConfig(undefined, { useNotificationService: true });
    const types = ['comment.add', 'comment_annotation.suggestion_accept', 'huddle.create', 'recorder.done'];
    expect(types.filter((type) => createsNotifications(on, type))).toEqual(['comment.add', 'huddle.create']);
    for (const config of [undefined, initialNotificationConfig, { ...on, useNotificationService: false }])
      expect(createsNotifications(config, 'comment.add')).toBe(false);
  });
});

describe('fairShares', () => {
  test('gives unused shares to the others', () => {
    const needs = [[10, 100, 100], [0, 30, 500, 20], [5, 5], []];
    expect(needs.map((each) => divideFairly(each, 100))).toEqual([[10, 45, 45], [0, 30, 50, 20], [5, 5], []]);
  });

  testProperty(
    'gives at most the need and the budget, and at least an equal share',
    [fc.array(fc.nat(1_000), { minLength: 1, maxLength: 6 }), fc.nat(2_000)],
    (needs, budget) => {
      const shares = divideFairly(needs, budget);
      const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);
      shares.forEach((share, index) => {
        expect(share).toBeLessThanOrEqual(needs[index]!);
        expect(share + 1e-6).toBeGreaterThanOrEqual(Math.min(needs[index]!, budget / needs.length));
      });
      expect(sumOf(shares)).toBeCloseTo(Math.min(budget, sumOf(needs)), 3);
    },
  );
});
