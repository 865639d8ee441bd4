import * as z from 'zod';
import { marginAfter, type Timing } from './schedule.ts';

/** Endpoints whose first attempts one queue message starts. Times are epoch ms. */
export const FirstAttempts = z.object({
  eventId: z.string(),
  group: z.string(),
  endpointIds: z.array(z.string()),
  /** When the sweeper sends the message again. */
  dueAt: z.number(),
  /** How often the message seemed lost. */
  sweeps: z.number(),
  /** The time of the event. */
  createdAt: z.number(),
  /** From 0 to 127. */
  shard: z.number(),
});
export type FirstAttempts = z.output<typeof FirstAttempts>;

/** The most endpoints of one message: a message is received once for all of them, and one that hangs holds back the deletion of the message. */
export const MOST_OF_ONE_GROUP = 20;

/** Returns the endpoints of an event in groups of up to 20. */
export function inGroups(endpointIds: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(endpointIds.length / MOST_OF_ONE_GROUP) }, (_each, index) =>
    endpointIds.slice(index * MOST_OF_ONE_GROUP, (index + 1) * MOST_OF_ONE_GROUP),
  );
}

/** Returns a new group, whose message the caller sends. */
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
 * Returns the group after the sweeper found it due. The margin doubles each time: the message may wait in a long queue, which must not fill
 * with copies.
 */
export function afterGroupSweep<G extends FirstAttempts>(group: G, now: number, { marginMs }: Timing): G {
  const sweeps = group.sweeps + 1;
  return { ...group, sweeps, dueAt: now + marginAfter(sweeps, marginMs) };
}
