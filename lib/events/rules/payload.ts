import type { Visibility } from '../../content/rules/visibility.ts';
import type { EventType } from './catalogue.ts';

/** What an event is about: the `source` of advanced payloads and the `notificationSource` of basic ones (facts B6, B7). */
export const eventSources = [
  'comment',
  'huddle',
  'crdt',
  'recorder',
  'notification',
  'workflow',
  'operational',
] as const;
export type EventSource = (typeof eventSources)[number];

/** Where an event type belongs. */
export function sourceOf(event: EventType): EventSource {
  const [group = ''] = event.split('.');
  if (group === 'comment_annotation') return 'comment';
  if (group === 'huddle' || group === 'crdt' || group === 'recorder' || group === 'comment') return group;
  return group === 'message' || group === 'endpoint' ? 'operational' : 'workflow';
}

/** What a payload takes at most as JSON (design 4). */
export const LARGEST_PAYLOAD_BYTES = 256 * 1024;

/** What an event says, as it is stored; what each receiver gets of it is made at the time of delivery. */
export interface EventPayload {
  readonly source: EventSource;
  /** `data` of an advanced payload (facts B7): `actionUser`, `metadata`, and what the source adds. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Who is to hear of it; never delivered itself. */
  readonly audience?: Audience;
}

/** Whom an event concerns: found where the change is made, filtered by settings and visibility when it is delivered. */
export interface Audience {
  /** Who caused it: never told of it. */
  readonly actorId?: string;
  /** Mentioned, assigned, the thread's author, or named by a notification. */
  readonly addressed: readonly string[];
  /** Who else took part in the thread or subscribed to it. */
  readonly following: readonly string[];
  /** The thread of the event: whether a recipient may see it is checked again just before something is sent. */
  readonly thread?: AudienceThread;
  /** The access context of the comments that the event shows, when the event happened, as `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
}

export interface AudienceThread {
  /** The internal ids of organization and document. */
  readonly organizationKey: string;
  readonly documentKey: string;
  readonly annotationId: string;
  /** Epoch ms; a part of the thread's key. */
  readonly createdAt: number;
  /** Under the customer's id. */
  readonly organizationId: string;
  readonly authorId: string;
  /** Visibility and access context of the thread when the event happened. They decide after the thread is deleted. */
  readonly visibility?: Visibility | undefined;
  readonly accessFields?: readonly string[] | undefined;
  /** The comment of the event. */
  readonly commentId?: number | undefined;
}
