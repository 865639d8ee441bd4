import { setTimeout as sleep } from 'node:timers/promises';
import { combine } from '../app/capability.ts';
import { inParallel } from '../shared/inParallel.ts';
import { readDue } from '../table/indexValues.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { replace, type Table } from '../table/table.ts';
import { type Sweep, type SweepCall, sweepShards } from '../workers/sweep.ts';
import { DocumentSessionEntity, endingSessions, SESSION_SHARDS } from './entities.ts';

const PARALLEL = 4;
/** The next run marks a session whose access ends this shortly before the deadline. */
const SPARE = 2_000;

export class SessionSweeper {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * The publisher reads the marks from the stream and checks the access. Returns when the next access ends before the
   * deadline of this run (epoch ms), or undefined if none does.
   */
  async markExpired(call: Pick<SweepCall, 'clock' | 'deadline'>): Promise<number | undefined> {
    const now = call.clock();
    let next: number | undefined;
    await sweepShards(
      SESSION_SHARDS,
      call,
      (shard, options) => readDue(this.#table, DocumentSessionEntity, endingSessions(shard), call.deadline, options),
      async (values) => {
        await inParallel(values, PARALLEL, async (session) => {
          if (session.accessEndsAt === undefined) return;
          if (session.accessEndsAt > now) {
            next = Math.min(next ?? Infinity, session.accessEndsAt);
            return;
          }
          const marked = { ...session, accessEndsAt: undefined, hasExpired: true };
          await this.#table.write([replace(DocumentSessionEntity, marked, session._r)]);
        });
      },
    );
    return next;
  }
}

export interface SessionSweepPorts {
  readonly sessions: Pick<SessionSweeper, 'markExpired'>;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

export function sweepSessions({ sessions, sleep }: SessionSweepPorts): Sweep {
  return async (call) => {
    for (;;) {
      const next = await sessions.markExpired(call);
      if (next === undefined || next > call.deadline - SPARE) return;
      await sleep(Math.max(0, next - call.clock()));
    }
  };
}

export const liveSessionSweep = /* @__PURE__ */ combine(
  {
    sessions: /* @__PURE__ */ storeCapability(SessionSweeper, ['BatchGetItem', 'PutItem'], ['gsi3']),
  },
  ({ sessions }) => sweepSessions({ sessions, sleep }),
);
