import * as z from 'zod';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { allOn, CommentTriggers, commentVerbs, hasTriggers, StoredGroup } from './groupedTriggers.ts';
import { type Change, merge } from './mergeConfig.ts';

/** The latest time that a JavaScript `Date` can represent, epoch ms. */
const LAST_TIME = 8.64e15;

/** The stored configuration of activity logs. Answers return it unchanged. A field that was never set is absent. */
export const ActivityConfig = /* @__PURE__ */ defineNamedSchema('ActivityConfig', () =>
  z.object({
    isEnabled: z.boolean(),
    /** When activity logs were first enabled, epoch milliseconds. */
    enabledTime: z.number().optional(),
    /** If true, activities cannot be changed or deleted. */
    immutable: z.boolean().optional(),
    triggers: z.object({ comment: StoredGroup }).optional(),
  }),
);
export type ActivityConfig = z.output<typeof ActivityConfig>;

export const ActivityConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    isEnabled: optional(z.boolean()),
    enabledTime: optional(z.int().min(0).max(LAST_TIME)),
    immutable: optional(z.boolean()),
    triggers: optional(z.object({ comment: CommentTriggers })),
  }),
);

export const initialActivityConfig: ActivityConfig = { isEnabled: false };

/**
 * Returns the configuration after an update. If the update enables activity logs and no triggers are stored, fields that were never
 * set get values: all triggers on, `immutable` on, and `enabledTime` is `now`.
 */
export function changeActivityConfig(
  stored: ActivityConfig = initialActivityConfig,
  sent: Change<ActivityConfig>,
  now: number,
): ActivityConfig {
  const changed = merge(stored, sent);
  if (sent.isEnabled !== true || hasTriggers(stored.triggers)) return changed;
  const firstEnable: ActivityConfig = {
    isEnabled: true,
    enabledTime: now,
    immutable: true,
    triggers: { comment: allOn(commentVerbs) },
  };
  return merge(firstEnable, changed);
}
