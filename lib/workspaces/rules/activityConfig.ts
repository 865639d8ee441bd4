import * as z from 'zod';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { allOn, CommentTriggers, commentVerbs, hasTriggers, StoredGroup } from './groupedTriggers.ts';
import { type Change, merge } from './mergeConfig.ts';

/** The latest time of a JavaScript `Date`. */
const LAST_TIME = 8.64e15;

const texts = {
  isEnabled: 'Whether calls about comments with `triggerActivities: true` write activities. By default false.',
  enabledTime:
    'When activity logs were first enabled, in epoch milliseconds. Set by the service unless it is sent. For your information only.',
  immutable:
    'Whether activities can be neither changed nor deleted. Becomes true when activity logs are first enabled, unless it is sent.',
  triggers: 'Which kinds of changes are logged. All, when activity logs are first enabled without triggers.',
} as const;

export const ActivityConfig = /* @__PURE__ */ defineNamedSchema('ActivityConfig', () =>
  z
    .object({
      isEnabled: z.boolean().describe(texts.isEnabled),
      enabledTime: z.number().optional().describe(texts.enabledTime),
      immutable: z.boolean().optional().describe(texts.immutable),
      triggers: z.object({ comment: StoredGroup }).optional().describe(texts.triggers),
    })
    .describe('Whether and how activities are logged. A field that was never set is absent.'),
);
export type ActivityConfig = z.output<typeof ActivityConfig>;

export const ActivityConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    isEnabled: optional(z.boolean()).describe(texts.isEnabled),
    enabledTime: optional(z.int().min(0).max(LAST_TIME)).describe(texts.enabledTime),
    immutable: optional(z.boolean()).describe(texts.immutable),
    triggers: optional(z.object({ comment: CommentTriggers })).describe(texts.triggers),
  }),
);

export const initialActivityConfig: ActivityConfig = { isEnabled: false };

/**
 * If the update enables activity logs and no triggers are stored, unset fields get values: all triggers on, `immutable`
 * on, and `enabledTime` is `now`.
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
