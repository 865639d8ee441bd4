import * as z from 'zod';
import { defineNamedSchema, defineSchema, optional, withRefusal } from '../../shared/schema.ts';
import {
  defaultEmailTriggers,
  defaultWebhookTriggers,
  type EventType,
  eventTypes,
  mailedTypes,
  type TriggerType,
  triggerTypes,
} from './catalogue.ts';

const triggerText = (done: string, services: string, initially = false) =>
  `Whether events of this type are ${done}. Becomes ${initially} when ${services} first enabled, unless it is sent.`;

export const TriggerMap = /* @__PURE__ */ defineNamedSchema('WebhookTriggers', () =>
  z
    .object(
      Object.fromEntries(
        triggerTypes.map((type) => [
          type,
          optional(z.boolean()).describe(triggerText('sent', 'basic webhooks are', defaultWebhookTriggers[type])),
        ]),
      ) as Record<TriggerType, z.ZodOptional<z.ZodBoolean>>,
    )
    .describe(
      'Triggers of basic webhooks by event type. A trigger that is not sent stays; one that was never set is off.',
    ),
);

const mailedTypeSet: ReadonlySet<string> = new Set(mailedTypes);

/**
 * Triggers of a service that only reports events of comments and huddles. Accepts `false` for other types, so that the
 * triggers of webhooks can be copied.
 */
const notifyingTriggers = (name: string, { done, services, of }: Record<'done' | 'services' | 'of', string>) =>
  defineNamedSchema(name, () => {
    const message = `must be false: only events of comments and huddles are ${done}`;
    const never = z.literal(false, { error: message });
    const triggers = z
      .object(
        Object.fromEntries(
          triggerTypes.map((type) => [
            type,
            optional(mailedTypeSet.has(type) ? z.boolean() : never).describe(
              mailedTypeSet.has(type)
                ? triggerText(done, services, defaultEmailTriggers[type])
                : `Must be false or left out, because events of this type are never ${done}.`,
            ),
          ]),
        ) as Record<TriggerType, z.ZodOptional<z.ZodBoolean>>,
      )
      .describe(`Triggers of ${of} by event type. A trigger that is not sent stays; one that was never set is off.`);
    return withRefusal(triggers, { values: '`true` for another event type', message });
  });

export const EmailTriggerMap = /* @__PURE__ */ notifyingTriggers('EmailTriggers', {
  done: 'mailed',
  services: 'e-mail is',
  of: 'e-mail',
});

export const ChatTriggerMap = /* @__PURE__ */ notifyingTriggers('ChatTriggers', {
  done: 'sent to Slack',
  services: 'chat is',
  of: 'chat',
});

const eventTypeSet: ReadonlySet<string> = new Set(eventTypes);

export const EventTypeName = /* @__PURE__ */ defineSchema(
  () =>
    z
      .string()
      .check(z.refine((type) => eventTypeSet.has(type), { error: 'must be an event type, such as comment.add' }))
      .meta({ enum: [...eventTypes] }) as unknown as z.ZodType<EventType, string>,
);
