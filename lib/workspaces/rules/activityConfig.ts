import * as z from 'zod';
import { optional } from '../../shared/schema.ts';
import { type Change, merge } from './mergeConfig.ts';
import { allOn, CommentTriggers, commentVerbs, hasTriggers, StoredGroup } from './groupedTriggers.ts';

/** The last millisecond that a date can name. */
const LAST_TIME = 8.64e15;

/** The configuration of activity logs (facts C1), as it is stored and shown. What was never set is absent. */
export const ActivityConfig = z.object({
  isEnabled: z.boolean(),
  /** Epoch milliseconds. */
  enabledTime: z.number().optional(),
  /** Whether records can no longer be changed or deleted. */
  immutable: z.boolean().optional(),
  triggers: z.object({ comment: StoredGroup }).optional(),
});
export type ActivityConfig = z.output<typeof ActivityConfig>;

/** What may be sent to change it. */
export const ActivityConfigChange = z.object({
  isEnabled: optional(z.boolean()),
  enabledTime: optional(z.int().min(0).max(LAST_TIME)),
  immutable: optional(z.boolean()),
  triggers: optional(z.strictObject({ comment: CommentTriggers })),
});

/** What a configuration that was never made reads as. */
export const initialActivityConfig: ActivityConfig = { isEnabled: false };

/**
 * The configuration after an update. The first one that enables while no triggers are stored fills in what neither it nor
 * an earlier one set (facts B9): every trigger on, suggestions too, `immutable`, and the time.
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
