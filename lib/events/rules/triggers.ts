import * as z from 'zod';
import { optional } from '../../shared/schema.ts';
import { type EventType, eventTypes, type TriggerType, triggerTypes } from './catalogue.ts';

/** A trigger map as callers send it: event types that have a trigger, each on or off. */
export const TriggerMap = z.strictObject(
  Object.fromEntries(triggerTypes.map((type) => [type, optional(z.boolean())])) as Record<
    TriggerType,
    z.ZodOptional<z.ZodBoolean>
  >,
);

const known: ReadonlySet<string> = new Set(eventTypes);

/** The name of an event type. */
export const EventTypeName = z
  .string()
  .check(z.refine((type) => known.has(type), { error: 'must be an event type, such as comment.add' }))
  .meta({ enum: [...eventTypes] }) as unknown as z.ZodType<EventType, string>;
