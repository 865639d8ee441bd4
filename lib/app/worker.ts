import type * as z from 'zod';
import type { Log } from '../observability/log.ts';
import type { Measures } from '../observability/measures.ts';
import type { Capability, Opened, QueueName, Uses } from './capability.ts';

/** A worker that gets the messages of a queue, one at a time. */
export interface FromQueue<M extends z.ZodType = z.ZodType> {
  readonly queue: QueueName;
  /** The schema of a message. SQS redelivers a message that does not match, and finally moves it to the dead-letter queue. */
  readonly message: M;
}

/** A worker that gets new items from the table's stream. */
export interface FromInserts {
  /** The entity types (`_t`) of the items. */
  readonly inserts: readonly [string, ...string[]];
}

/** Matches one part of an item's key: the whole part, its beginning, or its end. */
export type KeyPattern = string | { readonly prefix: string } | { readonly suffix: string };

/** A worker that gets changed items from the table's stream. */
export interface FromChanges {
  /** The entity types (`_t`) of the new and modified items that the worker gets. */
  readonly changes: readonly [string, ...string[]];
  /** The kinds of new jobs that the worker gets. It does not get changes of jobs, which are frequent. */
  readonly newJobs: readonly [string, ...string[]];
  /** The removed items that the worker gets, by patterns of their keys. The stream does not have the types of removed items. */
  readonly removals: readonly { readonly PK?: readonly KeyPattern[]; readonly SK?: readonly KeyPattern[] }[];
}

/** A worker that decides whether a user of the push service may connect, subscribe or publish. */
export interface FromAuthorizer {
  readonly authorizes: 'live';
}

/** A worker that runs once per interval. */
export interface FromTimer {
  readonly every: 'minute';
}

export type Source = FromQueue | FromInserts | FromChanges | FromAuthorizer | FromTimer;

/** The part of the argument of `run` that all workers get. */
export interface WorkerCall<U extends Uses> {
  readonly deps: Opened<U>;
  /** Returns the current time in epoch ms. */
  readonly clock: () => number;
  /** Returns a new id: `<prefix>_` and 27 base-62 characters. Ids with the same prefix sort by time. */
  readonly newId: (prefix: string) => string;
  /**
   * The time by which `run` must end, in epoch ms. A run that takes longer counts as failed. The deadline is half a second before
   * Lambda ends the function.
   */
  readonly deadline: number;
  readonly log: Log;
  readonly measures: Measures;
}

export interface MessageCall<Message, U extends Uses> extends WorkerCall<U> {
  readonly message: Message;
  /** The time at which the message was sent, in epoch ms. */
  readonly sentAt: number;
}

interface ItemKey {
  readonly PK: string;
  readonly SK: string;
}

/** A new item of the table. */
export interface InsertedItem {
  /** The id of the stream record. `run` returns it if the record failed. */
  readonly id: string;
  readonly key: ItemKey;
  /** The stored item. `fromItem` of its entity parses it. Lambda passes binary attributes as base64 text. */
  readonly item: Record<string, unknown>;
  /** The time of the write in epoch ms, rounded to seconds. */
  readonly createdAt: number;
}

export interface InsertsCall<U extends Uses> extends WorkerCall<U> {
  /** The new items. Items with the same partition key are in the order in which they were written. */
  readonly records: readonly InsertedItem[];
}

/** A changed item of the table. */
export interface ChangedItem {
  /** The sequence number of the stream record. `run` returns it if the record failed. */
  readonly id: string;
  /** The name of the stream. Sequence numbers can be compared only within one stream. A restored table has a new stream. */
  readonly stream: string;
  readonly change: 'insert' | 'modify' | 'remove';
  readonly key: ItemKey;
  /** The stored item. Undefined for a removed item. Lambda passes binary attributes as base64 text. */
  readonly item: Record<string, unknown> | undefined;
  /** The time of the write in epoch ms, rounded to seconds. */
  readonly at: number;
}

export interface ChangesCall<U extends Uses> extends WorkerCall<U> {
  /** The changes. Changes with the same partition key are in the order in which they were written. */
  readonly records: readonly ChangedItem[];
}

/** What a user of the push service asks to do. */
export interface AuthorizationRequest {
  readonly token: string;
  readonly operation: 'connect' | 'subscribe' | 'publish';
  /** The path of the channel. Empty for the operation `connect`. */
  readonly channel: string;
}

export interface AuthorizerCall<U extends Uses> extends WorkerCall<U> {
  readonly request: AuthorizationRequest;
}

/**
 * The function of a worker. It can run twice for the same message, and several runs can overlap. After an error:
 *
 * - SQS redelivers a message after the visibility timeout, up to five times.
 * - Lambda repeats a batch of inserts or changes without a pause.
 * - A timer runs again in the next minute.
 *
 * A worker for inserts or changes returns the ids of the records that failed. Lambda sends the first of them and all later
 * records again. An authorizer returns whether the request is allowed.
 */
export type WorkerRun<S extends Source, U extends Uses> =
  S extends FromQueue<infer M>
    ? (call: MessageCall<z.output<M>, U>) => Promise<void>
    : S extends FromInserts
      ? (call: InsertsCall<U>) => Promise<readonly string[]>
      : S extends FromChanges
        ? (call: ChangesCall<U>) => Promise<readonly string[]>
        : S extends FromAuthorizer
          ? (call: AuthorizerCall<U>) => Promise<boolean>
          : (call: WorkerCall<U>) => Promise<void>;

/** A worker. Its function, IAM policy, environment, bundle, event source, alarms and dashboard derive from this declaration. */
export interface WorkerDeclaration<S extends Source, U extends Uses> {
  /** The name in camel case. The file of the worker is `functions/workers/<name>.ts`. */
  readonly name: string;
  readonly summary: string;
  readonly on: S;
  readonly uses: U;
  /** The text of the worker's alarms: what is broken when the worker fails, and for whom. */
  readonly impact: string;
  readonly timeoutSeconds: number;
  /** The deployment setting without which the worker is not deployed. */
  readonly requires?: 'heartbeat' | 'live';
}

export interface WorkerOf<S extends Source, U extends Uses> extends WorkerDeclaration<S, U> {
  readonly run: WorkerRun<S, U>;
}

/** A worker with any type parameters, for code that reads the list of all declarations. */
export type Worker = WorkerDeclaration<Source, Record<string, Capability<unknown>>> & {
  // `never`, because the list has workers of every message type.
  readonly run: (call: never) => Promise<unknown>;
};

/** Declares a worker. Importing the declaration has no side effects. */
export function defineWorker<S extends Source, U extends Uses>(
  declaration: WorkerDeclaration<S, U>,
  run: WorkerRun<S, U>,
): WorkerOf<S, U> {
  return { ...declaration, run };
}

/** An error that a retry cannot fix. The worker logs and counts the failure, and then acknowledges the message. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

/** Returns the id of a worker's function, such as `worker.deliverWebhook`. */
export function workerId(name: string): string {
  return `worker.${name}`;
}

/** Returns the source file of a worker, such as `functions/workers/deliverWebhook.ts`. */
export function workerFile(name: string): string {
  return `functions/workers/${name}.ts`;
}
