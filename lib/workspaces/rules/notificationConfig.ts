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
  delayConfig:
    'Mails and direct messages about events wait. What the user has seen by then is not sent. Inboxes, live updates, messages to channels and webhooks never wait. Acts while `useNotificationService` is true.',
  isDelayEnabled: 'Whether mails and direct messages wait. By default false. Without `delaySeconds`, they do not.',
  delaySeconds: 'How long each waits after its event, in seconds. What waits already keeps its time.',
  batchConfig:
    'Collects mails and direct messages about several events into one, after the delay. What the user has seen, may not see any more, or was deleted, is left out. Acts while `useNotificationService` is true.',
  batch: 'A window in which mails and direct messages are collected.',
  isBatchEnabled: 'Whether they are collected. By default false. Without `batchWindowSeconds`, they are not.',
  batchWindowSeconds:
    'How long the window stays open after the first event, in seconds. A window that is open keeps its end.',
  maxActivities:
    'The number of events that closes the window early. Without it, only the time does. It cannot be removed: 50 is the most.',
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
            document: optional(Batch).describe(
              'A window for each user and document. When it closes, it sends the events of this document.',
            ),
            user: optional(Batch).describe(
              'A window for each user over all documents. When it closes, it sends all collected events of the user, also of documents whose window is open.',
            ),
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
