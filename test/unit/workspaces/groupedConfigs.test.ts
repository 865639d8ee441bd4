import { describe, expect, test } from '@jest/globals';
import { triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import { isInboxOnly } from '../../../lib/events/rules/inboxOnly.ts';
import { ActivityConfigChange, changeActivityConfig } from '../../../lib/workspaces/rules/activityConfig.ts';
import { commentVerbs, huddleVerbs } from '../../../lib/workspaces/rules/groupedTriggers.ts';
import {
  changeNotificationConfig,
  NotificationConfigChange,
} from '../../../lib/workspaces/rules/notificationConfig.ts';
import { requestIssues } from '../../support/requestIssues.ts';

const NOW = 1_800_000_000_000;

const commentTriggers = (suggestions: boolean) => ({
  newlyAdded: true,
  added: true,
  updated: true,
  deleted: true,
  approved: true,
  assigned: true,
  reactionAdded: true,
  reactionDeleted: true,
  statusChanged: true,
  priorityChanged: true,
  accessModeChanged: true,
  accepted: true,
  rejected: true,
  suggestionAccepted: suggestions,
  suggestionRejected: suggestions,
  customListChanged: true,
  subscribed: true,
  unsubscribed: true,
});

describe('the verbs of grouped triggers', () => {
  test('cover every event of comments and huddles, each by one verb', () => {
    const eventTypes = [...Object.values(commentVerbs), ...Object.values(huddleVerbs)];
    expect(new Set(eventTypes).size).toBe(eventTypes.length);
    const groupedTypes = triggerTypes.filter((type) => /^(comment|comment_annotation|huddle)\./.test(type));
    expect(eventTypes.filter((type) => !isInboxOnly(type)).sort()).toEqual([...groupedTypes].sort());
    expect(eventTypes.filter(isInboxOnly)).toEqual(['comment_annotation.access_mode_change']);
  });
});

describe('changeActivityConfig', () => {
  const change = (stored: Parameters<typeof changeActivityConfig>[0], data: object) =>
    changeActivityConfig(stored, ActivityConfigChange.parse(data), NOW);
  const allTriggers = commentTriggers(true);

  test.each([
    ['never configured', undefined, {}],
    ['configured before', { isEnabled: false, immutable: false, enabledTime: 5 }, { immutable: false, enabledTime: 5 }],
    ['configured with empty triggers', { isEnabled: false, triggers: { comment: {} } }, {}],
  ])('turns on every setting that is not set when activities are first enabled: %s', (_case, stored, expected) => {
    expect(change(stored, { isEnabled: true })).toEqual({
      isEnabled: true,
      immutable: true,
      enabledTime: NOW,
      triggers: { comment: allTriggers },
      ...expected,
    });
  });

  test('keeps the fields of the request when activities are first enabled', () => {
    expect(
      change(undefined, {
        isEnabled: true,
        immutable: false,
        enabledTime: 7,
        triggers: { comment: { deleted: false } },
      }),
    ).toEqual({
      isEnabled: true,
      immutable: false,
      enabledTime: 7,
      triggers: { comment: { ...allTriggers, deleted: false } },
    });
  });

  test.each([
    [{ isEnabled: false }],
    [{ immutable: true }],
    [{ enabledTime: 5 }],
    [{ triggers: { comment: { added: true } } }],
  ])('sets no defaults for a first change %p that does not enable activities', (sent) => {
    expect(change(undefined, sent)).toEqual({ isEnabled: false, ...sent });
  });

  test('sets no defaults when triggers are stored', () => {
    const stored = { isEnabled: false, triggers: { comment: { added: false } } };
    expect(change(stored, { isEnabled: true })).toEqual({ ...stored, isEnabled: true });
  });

  test('rejects a trigger of the name __proto__ with an issue at its path', () => {
    const sent = { triggers: { comment: JSON.parse('{"__proto__":true}') } };
    expect(requestIssues(ActivityConfigChange, sent).map(({ path }) => path.join('.'))).toEqual([
      'triggers.comment.__proto__',
    ]);
  });
});

describe('changeNotificationConfig', () => {
  const change = (stored: Parameters<typeof changeNotificationConfig>[0], data: object) =>
    changeNotificationConfig(stored, NotificationConfigChange.parse(data));
  const seeded = { comment: commentTriggers(false), huddle: { created: true, join: true } };
  const delayConfig = { isEnabled: true, delaySeconds: 60 };

  test('turns on comments and huddles, but no suggestions, delay or batch, when notifications are first enabled', () => {
    expect(change(undefined, { useNotificationService: true })).toEqual({
      useNotificationService: true,
      notificationServiceConfig: { triggers: seeded },
    });
  });

  test('keeps stored settings and the fields of the request when notifications are first enabled', () => {
    const stored = { useNotificationService: false, notificationServiceConfig: { delayConfig } };
    expect(
      change(stored, {
        useNotificationService: true,
        notificationServiceConfig: { triggers: { huddle: { join: false } } },
      }),
    ).toEqual({
      useNotificationService: true,
      notificationServiceConfig: { delayConfig, triggers: { ...seeded, huddle: { created: true, join: false } } },
    });
  });

  test('sets no defaults when triggers are stored or the service is not enabled', () => {
    const stored = {
      useNotificationService: false,
      notificationServiceConfig: { triggers: { huddle: { join: false } } },
    };
    expect(change(stored, { useNotificationService: true })).toEqual({ ...stored, useNotificationService: true });
    expect(change(undefined, { useNotificationService: false, notificationServiceConfig: { delayConfig } })).toEqual({
      useNotificationService: false,
      notificationServiceConfig: { delayConfig },
    });
  });

  test('merges a change into each level of the stored notification config', () => {
    const first = change(undefined, {
      notificationServiceConfig: {
        batchConfig: { document: { isEnabled: true, batchWindowSeconds: 10 }, user: { maxActivities: 2 } },
        delayConfig: { delaySeconds: 10 },
      },
    });
    expect(
      change(first, {
        notificationServiceConfig: {
          batchConfig: { document: { maxActivities: 50, batchWindowSeconds: null } },
          delayConfig: { isEnabled: true },
        },
      }),
    ).toEqual({
      useNotificationService: false,
      notificationServiceConfig: {
        batchConfig: {
          document: { isEnabled: true, batchWindowSeconds: 10, maxActivities: 50 },
          user: { maxActivities: 2 },
        },
        delayConfig: { isEnabled: true, delaySeconds: 10 },
      },
    });
  });

  test('rejects fractions of a second and of an activity', () => {
    const batch = { document: { batchWindowSeconds: 10.5, maxActivities: 2.5 } };
    const sent = { notificationServiceConfig: { delayConfig: { delaySeconds: 10.5 }, batchConfig: batch } };
    expect(requestIssues(NotificationConfigChange, sent).map(({ path }) => path.at(-1))).toEqual([
      'delaySeconds',
      'batchWindowSeconds',
      'maxActivities',
    ]);
  });
});
