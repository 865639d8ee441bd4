import type { Visibility } from '../../directory/rules/visibility.ts';
import type { EventType } from './catalogue.ts';

/** The values of `source` in advanced payloads and of `notificationSource` in basic payloads. */
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

/** The largest payload of an event, in bytes of JSON. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;

/** The stored payload of an event. At delivery, the payload for each receiver is made from it. */
export interface EventPayload {
  readonly source: EventSource;
  /** The field `data` of an advanced payload: `actionUser`, `metadata`, and the fields of the source. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The users that the event concerns. Receivers do not get this field. */
  readonly audience?: Audience;
}

/** The users that an event concerns, as recorded with the change. Their settings and access are checked at delivery. */
export interface Audience {
  /** The user who caused the event. This user is never notified of it. */
  readonly actorId?: string;
  /** Users whom the event addresses: mentioned users, the assignee, the author of the thread, and users in `notifyUsers`. */
  readonly addressed: readonly string[];
  /** Other participants and subscribers of the thread. */
  readonly following: readonly string[];
  /** The thread of the event. Whether a recipient may see it is checked again at delivery. */
  readonly thread?: AudienceThread;
  /** The access context of the comments in the event, at the time of the event, as texts `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
  readonly userWritten?: { readonly thread: readonly string[]; readonly comments: readonly number[] };
}

export interface AudienceThread {
  /** The internal ids of organization and document. */
  readonly organizationKey: string;
  readonly documentKey: string;
  readonly annotationId: string;
  /** When the thread was created, epoch ms. This time is a part of the thread's key. */
  readonly createdAt: number;
  readonly organizationId: string;
  readonly authorId: string;
  /** The visibility of the thread at the time of the event. It is used if the thread was deleted before the delivery. */
  readonly visibility?: Visibility | undefined;
  /**
   * The access context of the thread at the time of the event, as texts `field:value`. It is used if the thread was deleted before
   * the delivery.
   */
  readonly accessFields?: readonly string[] | undefined;
  /** The id of the event's comment. */
  readonly commentId?: number | undefined;
}
