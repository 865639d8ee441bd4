import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The recorded requests of one path. */
export interface ReceivedRequests {
  /**
   * When the headers of the first request with status 200 arrived, by `webhook-id`. In epoch milliseconds with
   * fractions.
   */
  readonly times: Readonly<Record<string, number>>;
  /** The number of all requests, including those with a failing status. */
  readonly requests: number;
}

/** The parent process waits until this many different events have arrived at a path. */
export interface AwaitedEvents {
  readonly path: string;
  readonly events: number;
}

/** A message to the receiver's process. It answers each with the recorded requests. */
export type Command = 'report' | 'recover' | 'clear' | AwaitedEvents;

/**
 * A webhook receiver in another process, so that it takes no CPU time from the sender. Paths that start with `/fail`
 * answer 500 until `recover` is called. Paths that start with `/hang` never answer. All other paths answer 200.
 */
interface BenchReceiver {
  url(path: string): string;
  /** Returns the recorded requests by path. */
  received(): Promise<Readonly<Record<string, ReceivedRequests>>>;
  /**
   * Returns the recorded requests when this many different events have arrived at a path. Throws if they have not
   * arrived after two minutes.
   */
  receivedEvents(path: string, events: number): Promise<Readonly<Record<string, ReceivedRequests>>>;
  /** Lets the paths that start with `/fail` answer 200 from now on. */
  recover(): Promise<unknown>;
  /** Deletes the recorded requests. */
  clear(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<BenchReceiver> {
  const child = fork(join(import.meta.dirname, 'receiver.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const send = async (command: Command, signal?: AbortSignal) => {
    const answerMessage = once(child, 'message', { signal });
    child.send(command);
    const [answer] = (await answerMessage) as [Record<string, ReceivedRequests>];
    return answer;
  };
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received: () => send('report'),
    receivedEvents: (path, events) => send({ path, events }, AbortSignal.timeout(120_000)),
    recover: () => send('recover'),
    clear: () => send('clear'),
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
