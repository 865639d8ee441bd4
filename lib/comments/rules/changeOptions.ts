import * as z from 'zod';
import { ContentUser } from '../../content/rules/user.ts';
import { optional } from '../../shared/schema.ts';

/** The fields of a call that changes threads or comments: who acts, and what the change triggers. */
export const changeOptionFields = {
  /** The actor of events and activities; default: the author of each record. */
  actionUser: optional(ContentUser),
  triggerNotification: optional(z.boolean()),
  triggerActivities: optional(z.boolean()),
};

/** The actor of a change, and what the change triggers. */
export interface ChangeOptions {
  /** Default: the author of the changed record. */
  readonly actor?: ContentUser | undefined;
  /** Whether to emit events. */
  readonly notify: boolean;
  /** Whether to write activities. */
  readonly log: boolean;
  readonly now: number;
}

/** Returns the options of a call. Without a field the change triggers nothing. */
export function toChangeOptions(
  { actionUser: actor, triggerNotification: notify = false, triggerActivities: log = false }: SentOptions,
  now: number,
): ChangeOptions {
  return { actor, notify, log, now };
}

interface SentOptions {
  readonly actionUser?: ContentUser | undefined;
  readonly triggerNotification?: boolean | undefined;
  readonly triggerActivities?: boolean | undefined;
}
