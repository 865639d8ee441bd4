import * as z from 'zod';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';

/** Event types by trigger in configurations of notifications and activities. */
export const commentVerbs = {
  newlyAdded: 'comment_annotation.add',
  added: 'comment.add',
  updated: 'comment.update',
  deleted: 'comment.delete',
  approved: 'comment_annotation.approve',
  assigned: 'comment_annotation.assign',
  reactionAdded: 'comment.reaction_add',
  reactionDeleted: 'comment.reaction_delete',
  statusChanged: 'comment_annotation.status_change',
  priorityChanged: 'comment_annotation.priority_change',
  accessModeChanged: 'comment_annotation.access_mode_change',
  accepted: 'comment_annotation.accept',
  rejected: 'comment_annotation.reject',
  suggestionAccepted: 'comment_annotation.suggestion_accept',
  suggestionRejected: 'comment_annotation.suggestion_reject',
  customListChanged: 'comment_annotation.custom_list_change',
  subscribed: 'comment_annotation.subscribe',
  unsubscribed: 'comment_annotation.unsubscribe',
} as const;

export const huddleVerbs = { created: 'huddle.create', join: 'huddle.join' } as const;

/** By group (such as `comment`) and verb (such as `added`). */
export type GroupedTriggers = Readonly<Record<string, Readonly<Record<string, boolean>> | undefined>>;

export const StoredGroup = /* @__PURE__ */ defineSchema(() =>
  z
    .record(z.string(), z.boolean())
    .optional()
    .describe('Whether each trigger is on, by its name. A trigger that was never set is off.'),
);

const textsOfVerbs: Readonly<Record<string, string>> = {
  accessModeChanged:
    'Whether changes of the `visibility` of a thread count. Only notifications in the inbox and activities have them, no webhook, mail or chat message.',
};

const CommentGroup = /* @__PURE__ */ defineNamedSchema('CommentTriggersInput', () =>
  groupOf(commentVerbs).describe(
    'Triggers of comments and threads by name. A trigger that is not sent stays; one that was never set is off.',
  ),
);

export const CommentTriggers = /* @__PURE__ */ defineSchema(() =>
  optional(CommentGroup).describe('Triggers of comments and threads by name.'),
);
export const HuddleTriggers = /* @__PURE__ */ defineSchema(() =>
  optional(groupOf(huddleVerbs)).describe(
    'Triggers of huddles by name. A trigger that is not sent stays; one that was never set is off.',
  ),
);

function groupOf<V extends string>(verbs: Readonly<Record<V, string>>) {
  const fields = Object.entries<string>(verbs).map(([verb, type]) => [
    verb,
    optional(z.boolean()).describe(textsOfVerbs[verb] ?? `Whether \`${type}\` counts.`),
  ]);
  return z.object(Object.fromEntries(fields) as Record<V, z.ZodOptional<z.ZodBoolean>>);
}

export function allOn<V extends string>(
  verbs: Readonly<Record<V, string>>,
  except: readonly V[] = [],
): Record<string, boolean> {
  return Object.fromEntries((Object.keys(verbs) as V[]).map((verb) => [verb, !except.includes(verb)]));
}

/** If no trigger is stored, enabling a service sets the default triggers. */
export function hasTriggers(triggers: GroupedTriggers | undefined): boolean {
  return Object.values(triggers ?? {}).some((group) => Object.keys(group ?? {}).length > 0);
}
