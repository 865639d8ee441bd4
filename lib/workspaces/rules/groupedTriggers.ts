import * as z from 'zod';
import { optional } from '../../shared/schema.ts';

/**
 * The verbs that configurations of notifications and activities use as triggers, each with its event type.
 */
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

/** Triggers as they are stored and returned: group -> verb -> on or off. */
export type GroupedTriggers = Readonly<Record<string, Readonly<Record<string, boolean>> | undefined>>;

/** One stored group. */
export const StoredGroup = z.record(z.string(), z.boolean()).optional();

/** One group in a request. An unknown verb is INVALID_ARGUMENT. */
export const CommentTriggers = groupOf(commentVerbs);
export const HuddleTriggers = groupOf(huddleVerbs);

function groupOf<V extends string>(verbs: Readonly<Record<V, string>>) {
  const fields = Object.keys(verbs).map((verb) => [verb, optional(z.boolean())]);
  return optional(z.strictObject(Object.fromEntries(fields) as Record<V, z.ZodOptional<z.ZodBoolean>>));
}

/** Returns a group with every verb on, except some. */
export function allOn<V extends string>(
  verbs: Readonly<Record<V, string>>,
  except: readonly V[] = [],
): Record<string, boolean> {
  return Object.fromEntries((Object.keys(verbs) as V[]).map((verb) => [verb, !except.includes(verb)]));
}

/** Returns whether any trigger is stored. Enabling a service sets the default triggers only when none is. */
export function hasTriggers(triggers: GroupedTriggers | undefined): boolean {
  return Object.values(triggers ?? {}).some((group) => Object.keys(group ?? {}).length > 0);
}
