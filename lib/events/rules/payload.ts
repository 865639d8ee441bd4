import type { Visibility } from '../../directory/rules/visibility.ts';
import type { EventType } from './catalogue.ts';

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

export const MAX_PAYLOAD_BYTES = 256 * 1024;

export interface EventPayload {
  readonly source: EventSource;
  readonly data: Readonly<Record<string, unknown>>;
  /** Not sent to receivers. */
  readonly audience?: Audience;
}

/** As recorded with the change. Settings and access are checked at delivery. */
export interface Audience {
  readonly actorId?: string;
  /**
   * Mentioned users, the assignee, the author of the thread, and `notifyUsers`. For a reaction, the author of the
   * comment.
   */
  readonly addressed: readonly string[];
  readonly following: readonly string[];
  readonly thread?: AudienceThread;
  /** The access context of the event's comments, as texts `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
  readonly userWritten?: { readonly thread: readonly string[]; readonly comments: readonly number[] };
}

export interface AudienceThread {
  readonly organizationKey: string;
  readonly documentKey: string;
  readonly annotationId: string;
  readonly createdAt: number;
  readonly organizationId: string;
  readonly authorId: string;
  /**
   * If the thread is no longer stored, `visibility` and `accessFields` decide which users may get a `comment.delete`.
   * Notifications keep a copy.
   */
  readonly visibility?: Visibility | undefined;
  readonly accessFields?: readonly string[] | undefined;
  readonly commentId?: number | undefined;
}
