import type * as z from 'zod';
import type { Capability, Opened, QueueName, Uses } from './capability.ts';
import type { Key } from '../table/entity.ts';
import type { Log } from './endpoint.ts';
import type { Measures } from '../observability/measures.ts';

/** A worker that gets the messages of a queue, one at a time. */
export interface FromQueue<M extends z.ZodType = z.ZodType> {
  readonly queue: QueueName;
  /** The schema of a message. SQS redelivers a message that does not match, and at last moves it to the dead-letter queue. */
  readonly message: M;
}

/** A worker that gets new items from the table's stream. */
export interface FromInserts {
  /** The entity types (`_t`) of the items. */
  readonly inserts: readonly [string, ...string[]];
}

/** A worker that runs once per interval. */
export interface FromTimer {
  readonly every: 'minute';
}

export type Source = FromQueue | FromInserts | FromTimer;

/** The part of the argument of `run` that all workers get. */
export interface WorkerCall<U extends Uses> {
  readonly deps: Opened<U>;
  /** Returns the time in epoch milliseconds. */
  readonly clock: () => number;
  /** Returns a new id: `<prefix>_` and 27 base-62 characters. Ids with the same prefix sort by time. */
  readonly newId: (prefix: string) => string;
  /**
   * The time by which `run` must end, in epoch milliseconds. A run that takes longer counts as failed. It is half a
   * second before Lambda ends the function.
   */
  readonly deadline: number;
  readonly log: Log;
  readonly measures: Measures;
}

export interface MessageCall<Message, U extends Uses> extends WorkerCall<U> {
  readonly message: Message;
  /** The number of times that SQS has delivered the message, including this time. */
  readonly receiveCount: number;
  /** The time at which the message was sent, epoch milliseconds. */
  readonly sentAt: number;
}

/** A new item of the table. */
export interface InsertedItem {
  /** The id of the stream record. `run` returns it if the record failed. */
  readonly id: string;
  readonly key: Key;
  /** The stored item. `fromItem` of its entity parses it. Lambda passes binary attributes as base64 text. */
  readonly item: Record<string, unknown>;
  /** The time of writing in epoch milliseconds, rounded to seconds. */
  readonly createdAt: number;
}

export interface InsertsCall<U extends Uses> extends WorkerCall<U> {
  /** The new items. Those of the same partition key are in the order in which they were written. */
  readonly records: readonly InsertedItem[];
}

/**
 * The function of a worker. It may run twice for the same message, and several times at once. After an error:
 *
 * - SQS redelivers a message after the visibility timeout, up to five times.
 * - Lambda repeats a batch of inserts at once.
 * - A timer runs again in the next minute.
 *
 * A worker for inserts returns the ids of the records that failed. Lambda repeats the first of them and all later records.
 */
export type WorkerRun<S extends Source, U extends Uses> =
  S extends FromQueue<infer M>
    ? (call: MessageCall<z.output<M>, U>) => Promise<void>
    : S extends FromInserts
      ? (call: InsertsCall<U>) => Promise<readonly string[]>
      : (call: WorkerCall<U>) => Promise<void>;

/**
 * A worker. Its function, IAM policy, environment, bundle, event source, alarms and dashboard derive from the
 * declaration.
 */
export interface WorkerDeclaration<S extends Source, U extends Uses> {
  /** The name in camel case. The file of the worker is `functions/workers/<name>.ts`. */
  readonly name: string;
  readonly summary: string;
  readonly on: S;
  readonly uses: U;
  /** The text of its alarms: what is broken when the worker fails, and for whom. */
  readonly impact: string;
  readonly timeoutSeconds: number;
  readonly memoryMb?: number;
}

export interface WorkerOf<S extends Source, U extends Uses> extends WorkerDeclaration<S, U> {
  readonly run: WorkerRun<S, U>;
}

/** A worker with any type parameters, for readers of the registry. */
export type Worker = WorkerDeclaration<Source, Record<string, Capability<unknown>>> & {
  // `never` because the registry holds workers of every message type.
  readonly run: (call: never) => Promise<unknown>;
};

/** Declares a worker. Importing a declaration has no side effects. */
export function defineWorker<S extends Source, U extends Uses>(
  declaration: WorkerDeclaration<S, U>,
  run: WorkerRun<S, U>,
): WorkerOf<S, U> {
  return { ...declaration, run };
}

/** An error that a retry cannot fix. The worker then logs and counts the failure and acknowledges the message. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

/** Returns the id of a worker's function: `worker.deliverWebhook`. */
export function workerId(name: string): string {
  return `worker.${name}`;
}

/** Returns the source file of a worker: `functions/workers/deliverWebhook.ts`. */
export function workerFile(name: string): string {
  return `functions/workers/${name}.ts`;
}
