import * as z from 'zod';
import { optional } from '../../shared/schema.ts';
import { type Change, merge } from './mergeConfig.ts';
import {
  allOn,
  CommentTriggers,
  commentVerbs,
  hasTriggers,
  HuddleTriggers,
  huddleVerbs,
  StoredGroup,
} from './groupedTriggers.ts';

const StoredBatch = z
  .object({
    isEnabled: z.boolean().optional(),
    batchWindowSeconds: z.number().optional(),
    maxActivities: z.number().optional(),
  })
  .optional();

/**
 * The stored configuration of in-app notifications, which answers return unchanged. A field that was never set is absent.
 * An enabled delay or batch without its numbers has no effect, so callers can send the fields in any order.
 */
export const NotificationConfig = z.object({
  useNotificationService: z.boolean(),
  notificationServiceConfig: z.object({
    triggers: z.object({ comment: StoredGroup, huddle: StoredGroup }).optional(),
    delayConfig: z.object({ isEnabled: z.boolean().optional(), delaySeconds: z.number().optional() }).optional(),
    batchConfig: z.object({ document: StoredBatch, user: StoredBatch }).optional(),
  }),
});
export type NotificationConfig = z.output<typeof NotificationConfig>;

const Batch = z.object({
  isEnabled: optional(z.boolean()),
  batchWindowSeconds: optional(z.int().min(10).max(604_800)),
  maxActivities: optional(z.int().min(2).max(50)),
});

export const NotificationConfigChange = z.object({
  useNotificationService: optional(z.boolean()),
  notificationServiceConfig: optional(
    z.object({
      triggers: optional(z.strictObject({ comment: CommentTriggers, huddle: HuddleTriggers })),
      delayConfig: optional(
        z.object({ isEnabled: optional(z.boolean()), delaySeconds: optional(z.int().min(10).max(15_552_000)) }),
      ),
      batchConfig: optional(z.object({ document: optional(Batch), user: optional(Batch) })),
    }),
  ),
});

/** The value of a configuration that was never set. */
export const initialNotificationConfig: NotificationConfig = {
  useNotificationService: false,
  notificationServiceConfig: {},
};

/** The default triggers: all triggers of comments and huddles are on, except those of suggestions. */
export const defaultNotificationTriggers = {
  comment: allOn(commentVerbs, ['suggestionAccepted', 'suggestionRejected']),
  huddle: allOn(huddleVerbs),
};

const firstEnable: NotificationConfig = {
  useNotificationService: true,
  notificationServiceConfig: { triggers: defaultNotificationTriggers },
};

/**
 * Returns the configuration after an update. An update that enables the service while no triggers are stored also sets the
 * default triggers. The triggers of the request take precedence.
 */
export function changeNotificationConfig(
  stored: NotificationConfig = initialNotificationConfig,
  sent: Change<NotificationConfig>,
): NotificationConfig {
  const changed = merge(stored, sent);
  const setsDefaults = sent.useNotificationService === true && !hasTriggers(stored.notificationServiceConfig.triggers);
  return setsDefaults ? merge(firstEnable, changed) : changed;
}
