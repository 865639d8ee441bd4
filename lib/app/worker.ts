import type * as z from 'zod';
import type { Capability, Opened, QueueName, Uses } from './capability.ts';
import type { Key } from '../table/entity.ts';
import type { Log } from './endpoint.ts';
import type { Measures } from '../observability/measures.ts';

/** Gets the messages of a queue, one at a time. */
export interface FromQueue<M extends z.ZodType = z.ZodType> {
  readonly queue: QueueName;
  /** The schema of a message. One that does not match fails until it lies in the dead-letter queue. */
  readonly message: M;
}

/** Gets new items of these entity types (`_t`) from the table's stream, soon after their commit. */
export interface FromInserts {
  readonly inserts: readonly [string, ...string[]];
}

/** Runs at an interval. */
export interface FromTimer {
  readonly every: 'minute';
}

export type Source = FromQueue | FromInserts | FromTimer;

/** Everything that `run` may use, whatever it runs for. */
export interface WorkerCall<U extends Uses> {
  readonly deps: Opened<U>;
  /** The time, epoch milliseconds. A worker waits for others, so that one time per run would not do. */
  readonly clock: () => number;
  /** A new identifier, `<prefix>_` and 27 base-62 characters that sort by time. */
  newId(prefix: string): string;
  /** When a run that has not ended counts as failed, epoch milliseconds: half a second before Lambda ends the function. */
  readonly deadline: number;
  readonly log: Log;
  readonly measures: Measures;
}

export interface MessageCall<Message, U extends Uses> extends WorkerCall<U> {
  readonly message: Message;
  /** 1 when the message comes for the first time. */
  readonly receiveCount: number;
  /** When it was sent, epoch milliseconds. */
  readonly sentAt: number;
}

/** A new item of the table. */
export interface InsertedItem {
  /** Names the record, not the item: what `run` gives back when it failed. */
  readonly id: string;
  readonly key: Key;
  /** The item as it is stored, for `fromItem` of its entity; but bytes are base64 text, as Lambda hands them over. */
  readonly item: Record<string, unknown>;
  /** When it was written, epoch milliseconds, in whole seconds. */
  readonly createdAt: number;
}

export interface InsertsCall<U extends Uses> extends WorkerCall<U> {
  /** In the order of writing within each partition key. */
  readonly records: readonly InsertedItem[];
}

/**
 * What a worker does. It may run twice for the same thing, and several at a time. A throw fails the message, the whole batch of
 * inserts or the tick: a message comes again after the visibility timeout of its queue, up to five times, a batch of inserts at once,
 * a tick in the next minute. For inserts it gives the ids of the records that failed; they come again with those after them.
 */
export type WorkerRun<S extends Source, U extends Uses> =
  S extends FromQueue<infer M>
    ? (call: MessageCall<z.output<M>, U>) => Promise<void>
    : S extends FromInserts
      ? (call: InsertsCall<U>) => Promise<readonly string[]>
      : (call: WorkerCall<U>) => Promise<void>;

/** One worker, declared once; function, IAM, environment, bundle, event source, alarms and dashboard derive from it. */
export interface WorkerDeclaration<S extends Source, U extends Uses> {
  /** In camel case; its file is `functions/workers/<name>.ts`. */
  readonly name: string;
  readonly summary: string;
  readonly on: S;
  readonly uses: U;
  /** What is broken for whom when this worker fails: the text of its alarms. */
  readonly impact: string;
  readonly timeoutSeconds: number;
  readonly memoryMb?: number;
}

export interface WorkerOf<S extends Source, U extends Uses> extends WorkerDeclaration<S, U> {
  readonly run: WorkerRun<S, U>;
}

/** A worker whose types are not needed, as the registry's readers see it. */
export type Worker = WorkerDeclaration<Source, Record<string, Capability<unknown>>> & {
  // `never` because the registry holds workers of every message type.
  readonly run: (call: never) => Promise<unknown>;
};

/** Declares a worker. Importing a declaration has no effect, as with endpoints. */
export function defineWorker<S extends Source, U extends Uses>(
  declaration: WorkerDeclaration<S, U>,
  run: WorkerRun<S, U>,
): WorkerOf<S, U> {
  return { ...declaration, run };
}

/** What no repetition can change: the message is acknowledged, and the failure is logged and counted as a fault. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

/** `worker.deliverWebhook` of `deliverWebhook`: the id of its function. */
export function workerId(name: string): string {
  return `worker.${name}`;
}

/** `functions/workers/deliverWebhook.ts` of `deliverWebhook`. */
export function workerFile(name: string): string {
  return `functions/workers/${name}.ts`;
}
