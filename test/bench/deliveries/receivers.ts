import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What came at one path of a receiver. */
export interface Came {
  /** When each message was first answered with 200, epoch ms, by its `webhook-id`. */
  readonly times: Readonly<Record<string, number>>;
  /** All requests, whatever became of them. */
  readonly requests: number;
}

/**
 * A receiver in another process: what it does costs the sender nothing. It answers 200; paths from `/fail` on answer 500 until it
 * recovers, those from `/hang` on nothing at all.
 */
export interface BenchReceiver {
  url(path: string): string;
  /** What came so far, by path. */
  came(): Promise<Readonly<Record<string, Came>>>;
  /** From now on everything that failed is answered with 200. */
  recover(): Promise<unknown>;
  /** Forgets what came. */
  clear(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<BenchReceiver> {
  const child = fork(join(import.meta.dirname, 'receiver.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async (what: 'came' | 'recover' | 'clear') => {
    const answered = once(child, 'message');
    child.send(what);
    const [answer] = (await answered) as [Record<string, Came>];
    return answer;
  };
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    came: () => ask('came'),
    recover: () => ask('recover'),
    clear: () => ask('clear'),
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
