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

const StoredBatch = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      isEnabled: z.boolean().optional(),
      batchWindowSeconds: z.number().optional(),
      maxActivities: z.number().optional(),
    })
    .optional(),
);

/**
 * The stored configuration of in-app notifications. Answers return it unchanged. A field that was never set is absent. An enabled
 * delay or batch has no effect until its numbers are set, so callers can send the fields in any order.
 */
export const NotificationConfig = /* @__PURE__ */ defineNamedSchema('NotificationConfig', () =>
  z.object({
    useNotificationService: z.boolean(),
    notificationServiceConfig: z.object({
      triggers: z.object({ comment: StoredGroup, huddle: StoredGroup }).optional(),
      delayConfig: z.object({ isEnabled: z.boolean().optional(), delaySeconds: z.number().optional() }).optional(),
      batchConfig: z.object({ document: StoredBatch, user: StoredBatch }).optional(),
    }),
  }),
);
export type NotificationConfig = z.output<typeof NotificationConfig>;

const Batch = /* @__PURE__ */ defineNamedSchema('NotificationBatchInput', () =>
  z.object({
    isEnabled: optional(z.boolean()),
    batchWindowSeconds: optional(z.int().min(10).max(604_800)),
    maxActivities: optional(z.int().min(2).max(50)),
  }),
);

export const NotificationConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    useNotificationService: optional(z.boolean()),
    notificationServiceConfig: optional(
      z.object({
        triggers: optional(z.object({ comment: CommentTriggers, huddle: HuddleTriggers })),
        delayConfig: optional(
          z.object({ isEnabled: optional(z.boolean()), delaySeconds: optional(z.int().min(10).max(15_552_000)) }),
        ),
        batchConfig: optional(z.object({ document: optional(Batch), user: optional(Batch) })),
      }),
    ),
  }),
);

export const initialNotificationConfig: NotificationConfig = {
  useNotificationService: false,
  notificationServiceConfig: {},
};

/** The default triggers: all triggers of comments and huddles, except those about suggestions. */
export const defaultNotificationTriggers = {
  comment: allOn(commentVerbs, ['suggestionAccepted', 'suggestionRejected']),
  huddle: allOn(huddleVerbs),
};

const firstEnable: NotificationConfig = {
  useNotificationService: true,
  notificationServiceConfig: { triggers: defaultNotificationTriggers },
};

/**
 * Returns the configuration after an update. If the update enables the service and no triggers are stored, the default triggers are
 * set. Triggers of the request take precedence.
 */
export function changeNotificationConfig(
  stored: NotificationConfig = initialNotificationConfig,
  sent: Change<NotificationConfig>,
): NotificationConfig {
  const changed = merge(stored, sent);
  const setsDefaults = sent.useNotificationService === true && !hasTriggers(stored.notificationServiceConfig.triggers);
  return setsDefaults ? merge(firstEnable, changed) : changed;
}
