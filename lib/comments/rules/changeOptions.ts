import * as z from 'zod';
import { ContentUser } from '../../content/rules/contentUser.ts';
import { defineSchema, optional } from '../../shared/schema.ts';

export const changeOptionFields = /* @__PURE__ */ defineSchema(() => ({
  actionUser: optional(ContentUser).describe(
    'The user whom events and activities name as the actor. By default the author of each changed record.',
  ),
  triggerNotification: optional(z.boolean()).describe(
    'Whether each change causes an event, which reaches webhooks, mails and inboxes. By default false.',
  ),
  triggerActivities: optional(z.boolean()).describe(
    'Whether each change writes an activity, if activities are enabled. By default false.',
  ),
}));

export interface ChangeOptions {
  /** By default the author of each changed record. */
  readonly actor?: ContentUser | undefined;
  readonly notify: boolean;
  readonly log: boolean;
  readonly byUser?: boolean | undefined;
  readonly now: number;
}

export function toChangeOptions(
  { actionUser: actor, triggerNotification: notify = false, triggerActivities: log = false }: ChangeOptionsRequest,
  now: number,
  byUser: boolean,
): ChangeOptions {
  return { actor, notify, log, byUser, now };
}

interface ChangeOptionsRequest {
  readonly actionUser?: ContentUser | undefined;
  readonly triggerNotification?: boolean | undefined;
  readonly triggerActivities?: boolean | undefined;
}
