import * as z from 'zod';
import { marginAfter, type Timing } from '../../workers/rules/schedule.ts';

/** A group of first attempts: the endpoints of one event that one queue message contains. Times are epoch ms. */
export const FirstAttempts = z.object({
  eventId: z.string(),
  group: z.string(),
  endpointIds: z.array(z.string()),
  /**
   * At this time, the sweep, which runs every minute, sends the group's message again. By then, a group whose attempts have ended
   * is deleted.
   */
  dueAt: z.number(),
  /** The number of times that the group's message counted as lost. */
  sweeps: z.number(),
  /** The time of the event. */
  createdAt: z.number(),
  /** The number of the partition in the due index, from 0 to 127. */
  shard: z.number(),
});
export type FirstAttempts = z.output<typeof FirstAttempts>;

/**
 * The most endpoints of one group. Groups are small, because the message of a group stays in the queue until the attempts at all
 * its endpoints have ended.
 */
export const MAX_ATTEMPTS_PER_GROUP = 20;

/** Returns a new group. The caller sends its message. */
export function newFirstAttempts(
  {
    endpointIds,
    ...of
  }: Pick<FirstAttempts, 'eventId' | 'group' | 'createdAt' | 'shard'> & {
    readonly endpointIds: readonly string[];
  },
  now: number,
  { schedule, marginMs }: Timing,
): FirstAttempts {
  return { ...of, endpointIds: [...endpointIds], sweeps: 0, dueAt: now + (schedule[0] ?? 0) + marginMs };
}

/**
 * Returns the group after a sweep that sends its message again. Each sweep doubles the time until the next one, because the message
 * may still wait in a long queue, and copies make the queue longer.
 */
export function afterGroupSweep<G extends FirstAttempts>(group: G, now: number, { marginMs }: Timing): G {
  const sweeps = group.sweeps + 1;
  return { ...group, sweeps, dueAt: now + marginAfter(sweeps, marginMs) };
}
