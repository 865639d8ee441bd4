import type { Visibility } from '../../content/rules/visibility.ts';
import type { EventType } from './catalogue.ts';

/** The `source` of advanced payloads and the `notificationSource` of basic ones. */
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

export function sourceOf(event: EventType): EventSource {
  const [group = ''] = event.split('.');
  if (group === 'comment_annotation') return 'comment';
  if (group === 'huddle' || group === 'crdt' || group === 'recorder' || group === 'comment') return group;
  return group === 'message' || group === 'endpoint' ? 'operational' : 'workflow';
}

/** The largest payload, as JSON. */
export const LARGEST_PAYLOAD_BYTES = 256 * 1024;

/** The stored payload of an event. The payload of each receiver is made from it at delivery. */
export interface EventPayload {
  readonly source: EventSource;
  /** `data` of an advanced payload: `actionUser`, `metadata`, and the fields of the source. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Never delivered itself. */
  readonly audience?: Audience;
}

/** The users that an event concerns. It is recorded with the change; settings and access are checked at delivery. */
export interface Audience {
  /** The user who caused the event, who is never notified of it. */
  readonly actorId?: string;
  /** Users who are mentioned, assigned, the author of the thread, or named by a notification. */
  readonly addressed: readonly string[];
  /** Other participants and subscribers of the thread. */
  readonly following: readonly string[];
  /** The thread of the event. Whether a recipient may see it is checked again at delivery. */
  readonly thread?: AudienceThread;
  /** The access context of the comments in the event, at the time of the event, as `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
}

export interface AudienceThread {
  /** The internal ids of organization and document. */
  readonly organizationKey: string;
  readonly documentKey: string;
  readonly annotationId: string;
  /** Epoch ms; a part of the thread's key. */
  readonly createdAt: number;
  readonly organizationId: string;
  readonly authorId: string;
  /** Visibility and access context of the thread at the time of the event. They decide after the thread is deleted. */
  readonly visibility?: Visibility | undefined;
  readonly accessFields?: readonly string[] | undefined;
  /** The comment of the event. */
  readonly commentId?: number | undefined;
}
