import { type EventType, eventTypes } from './catalogue.ts';

/** What the reference says about an event type. */
interface EventText {
  /** What happened, as a sentence without a full stop. */
  readonly cause: string;
  /** Who gets the event, and what to read next. */
  readonly audience: string;
}

export const eventTexts: Readonly<Record<EventType, EventText>> = Object.fromEntries(
  eventTypes.map((event) => [event, { cause: '', audience: '' }]),
) as never;
