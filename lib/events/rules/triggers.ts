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

/** Accepts `false` for a type that is never mailed, so that the triggers of webhooks can be copied. */
export const EmailTriggerMap = /* @__PURE__ */ defineNamedSchema('EmailTriggers', () => {
  const message = 'must be false: only events of comments and huddles are mailed';
  const neverMailed = z.literal(false, { error: message });
  const triggers = z
    .object(
      Object.fromEntries(
        triggerTypes.map((type) => [
          type,
          optional(mailedTypeSet.has(type) ? z.boolean() : neverMailed).describe(
            mailedTypeSet.has(type)
              ? triggerText('mailed', 'e-mail is', defaultEmailTriggers[type])
              : 'Must be false or left out, because events of this type are never mailed.',
          ),
        ]),
      ) as Record<TriggerType, z.ZodOptional<z.ZodBoolean>>,
    )
    .describe('Triggers of e-mail by event type. A trigger that is not sent stays; one that was never set is off.');
  return withRefusal(triggers, { values: '`true` for another event type', message });
});

const eventTypeSet: ReadonlySet<string> = new Set(eventTypes);

export const EventTypeName = /* @__PURE__ */ defineSchema(
  () =>
    z
      .string()
      .check(z.refine((type) => eventTypeSet.has(type), { error: 'must be an event type, such as comment.add' }))
      .meta({ enum: [...eventTypes] }) as unknown as z.ZodType<EventType, string>,
);
