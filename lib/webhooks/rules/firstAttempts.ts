import * as z from 'zod';
import { marginAfter, type Timing } from '../../workers/rules/schedule.ts';

export const FirstAttempts = z.object({
  eventId: z.string(),
  group: z.string(),
  endpointIds: z.array(z.string()),
  /** When the sweep repeats the message, unless the group is deleted by then. */
  dueAt: z.number(),
  sweeps: z.number(),
  createdAt: z.number(),
  shard: z.number(),
});
export type FirstAttempts = z.output<typeof FirstAttempts>;

/** The message of a group stays in the queue until the attempts at all its endpoints have ended. */
export const MAX_ATTEMPTS_PER_GROUP = 20;

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

export function afterGroupSweep<G extends FirstAttempts>(group: G, now: number, { marginMs }: Timing): G {
  const sweeps = group.sweeps + 1;
  return { ...group, sweeps, dueAt: now + marginAfter(sweeps, marginMs) };
}
