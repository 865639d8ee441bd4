import * as z from 'zod';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import {
  allOn,
  CommentTriggers,
  commentVerbs,
  hasTriggers,
  HuddleTriggers,
  huddleVerbs,
  StoredGroup,
} from './groupedTriggers.ts';
import { type Change, merge } from './mergeConfig.ts';

const texts = {
  useNotificationService:
    'Whether events create in-app notifications. By default false. The first `true` sets the default triggers: all except those of suggestions.',
  notificationServiceConfig: 'Which events create notifications, and when.',
  triggers: 'Which events create notifications.',
  delayConfig: 'Stored, no effect yet. A delay of notifications.',
  isDelayEnabled: 'Stored, no effect yet. Whether notifications are delayed.',
  delaySeconds: 'Stored, no effect yet. The delay in seconds.',
  batchConfig: 'Stored, no effect yet. The collection of several notifications into one.',
  batch: 'Stored, no effect yet. The collection of notifications by document or by user.',
  isBatchEnabled: 'Stored, no effect yet. Whether notifications are collected.',
  batchWindowSeconds: 'Stored, no effect yet. How long notifications are collected, in seconds.',
  maxActivities: 'Stored, no effect yet. The largest number of notifications in a collection.',
} as const;

const StoredBatch = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      isEnabled: z.boolean().optional().describe(texts.isBatchEnabled),
      batchWindowSeconds: z.number().optional().describe(texts.batchWindowSeconds),
      maxActivities: z.number().optional().describe(texts.maxActivities),
    })
    .optional()
    .describe(texts.batch),
);

/** `isEnabled` is accepted without its numbers, so that callers can send the fields in any order. */
export const NotificationConfig = /* @__PURE__ */ defineNamedSchema('NotificationConfig', () =>
  z
    .object({
      useNotificationService: z.boolean().describe(texts.useNotificationService),
      notificationServiceConfig: z
        .object({
          triggers: z.object({ comment: StoredGroup, huddle: StoredGroup }).optional().describe(texts.triggers),
          delayConfig: z
            .object({
              isEnabled: z.boolean().optional().describe(texts.isDelayEnabled),
              delaySeconds: z.number().optional().describe(texts.delaySeconds),
            })
            .optional()
            .describe(texts.delayConfig),
          batchConfig: z.object({ document: StoredBatch, user: StoredBatch }).optional().describe(texts.batchConfig),
        })
        .describe(texts.notificationServiceConfig),
    })
    .describe('Whether and when in-app notifications are created. A field that was never set is absent.'),
);
export type NotificationConfig = z.output<typeof NotificationConfig>;

const Batch = /* @__PURE__ */ defineNamedSchema('NotificationBatchInput', () =>
  z
    .object({
      isEnabled: optional(z.boolean()).describe(texts.isBatchEnabled),
      batchWindowSeconds: optional(z.int().min(10).max(604_800)).describe(texts.batchWindowSeconds),
      maxActivities: optional(z.int().min(2).max(50)).describe(texts.maxActivities),
    })
    .describe(texts.batch),
);

export const NotificationConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    useNotificationService: optional(z.boolean()).describe(texts.useNotificationService),
    notificationServiceConfig: optional(
      z.object({
        triggers: optional(z.object({ comment: CommentTriggers, huddle: HuddleTriggers })).describe(texts.triggers),
        delayConfig: optional(
          z.object({
            isEnabled: optional(z.boolean()).describe(texts.isDelayEnabled),
            delaySeconds: optional(z.int().min(10).max(15_552_000)).describe(texts.delaySeconds),
          }),
        ).describe(texts.delayConfig),
        batchConfig: optional(
          z.object({
            document: optional(Batch).describe('Stored, no effect yet. Collects the notifications of a document.'),
            user: optional(Batch).describe('Stored, no effect yet. Collects the notifications of a user.'),
          }),
        ).describe(texts.batchConfig),
      }),
    ).describe(texts.notificationServiceConfig),
  }),
);

export const initialNotificationConfig: NotificationConfig = {
  useNotificationService: false,
  notificationServiceConfig: {},
};

export const defaultNotificationTriggers = {
  comment: allOn(commentVerbs, ['suggestionAccepted', 'suggestionRejected']),
  huddle: allOn(huddleVerbs),
};

const firstEnable: NotificationConfig = {
  useNotificationService: true,
  notificationServiceConfig: { triggers: defaultNotificationTriggers },
};

export function changeNotificationConfig(
  stored: NotificationConfig = initialNotificationConfig,
  sent: Change<NotificationConfig>,
): NotificationConfig {
  const changed = merge(stored, sent);
  const setsDefaults = sent.useNotificationService === true && !hasTriggers(stored.notificationServiceConfig.triggers);
  return setsDefaults ? merge(firstEnable, changed) : changed;
}
