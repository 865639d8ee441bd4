import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The received requests of one path. */
export interface ReceivedRequests {
  /**
   * The time at which the headers of the first request with status 200 arrived, by `webhook-id`. In epoch milliseconds with
   * fractions.
   */
  readonly times: Readonly<Record<string, number>>;
  /** The number of all requests, including failed ones. */
  readonly requests: number;
}

/**
 * A receiver in another process, so that it takes no CPU time from the sender. It answers with status 200. Paths that start
 * with `/fail` answer with 500 until `recover` is called. Paths that start with `/hang` never answer.
 */
export interface BenchReceiver {
  url(path: string): string;
  /** Returns the received requests by path. */
  received(): Promise<Readonly<Record<string, ReceivedRequests>>>;
  /** Answers all failing paths with status 200 from now on. */
  recover(): Promise<unknown>;
  /** Deletes the recorded requests. */
  clear(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<BenchReceiver> {
  const child = fork(join(import.meta.dirname, 'receiver.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const send = async (command: 'report' | 'recover' | 'clear') => {
    const answerMessage = once(child, 'message');
    child.send(command);
    const [answer] = (await answerMessage) as [Record<string, ReceivedRequests>];
    return answer;
  };
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received: () => send('report'),
    recover: () => send('recover'),
    clear: () => send('clear'),
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
