import type * as z from 'zod';
import type { Log } from '../observability/log.ts';
import type { Measures } from '../observability/measures.ts';
import type { Capability, Opened, QueueName, Uses } from './capability.ts';

export interface FromQueue<M extends z.ZodType = z.ZodType> {
  readonly queue: QueueName;
  /** SQS redelivers a message that does not match this schema, and finally moves it to the dead-letter queue. */
  readonly message: M;
}

export interface FromInserts {
  readonly inserts: readonly [string, ...string[]];
}

export type KeyPattern = string | { readonly prefix: string } | { readonly suffix: string };

export interface FromChanges {
  readonly changes: readonly [string, ...string[]];
  /** The kinds of jobs. The worker does not get changes of jobs, which are frequent. */
  readonly newJobs: readonly [string, ...string[]];
  /** Patterns of keys, because a removed item has no new image, in which the other filters read the type. */
  readonly removals: readonly { readonly PK?: readonly KeyPattern[]; readonly SK?: readonly KeyPattern[] }[];
}

export interface FromAuthorizer {
  readonly authorizes: 'live';
}

export interface FromTimer {
  readonly every: 'minute';
}

export type Source = FromQueue | FromInserts | FromChanges | FromAuthorizer | FromTimer;

export interface WorkerCall<U extends Uses> {
  readonly deps: Opened<U>;
  readonly clock: () => number;
  readonly newId: (prefix: string) => string;
  /** Epoch ms, half a second before Lambda ends the function. */
  readonly deadline: number;
  readonly log: Log;
  readonly measures: Measures;
}

export interface MessageCall<Message, U extends Uses> extends WorkerCall<U> {
  readonly message: Message;
  readonly sentAt: number;
}

interface ItemKey {
  readonly PK: string;
  readonly SK: string;
}

export interface InsertedItem {
  /** `run` returns the id if the record failed. */
  readonly id: string;
  readonly key: ItemKey;
  /** Binary attributes are base64 texts. `fromItem` of the entity parses the item. */
  readonly item: Record<string, unknown>;
  /** The time of the write in epoch ms, rounded to seconds. */
  readonly createdAt: number;
}

export interface InsertsCall<U extends Uses> extends WorkerCall<U> {
  readonly records: readonly InsertedItem[];
}

export interface ChangedItem {
  readonly id: string;
  /** Sequence numbers can be compared only within one stream. A restored table has a new stream. */
  readonly stream: string;
  readonly change: 'insert' | 'modify' | 'remove';
  readonly key: ItemKey;
  /** Undefined for a removed item. */
  readonly item: Record<string, unknown> | undefined;
  /** Returns the item before the change. Undefined for a new item. */
  readonly before?: () => Record<string, unknown> | undefined;
  readonly at: number;
}

export interface ChangesCall<U extends Uses> extends WorkerCall<U> {
  readonly records: readonly ChangedItem[];
}

export interface AuthorizationRequest {
  readonly token: string;
  readonly operation: 'connect' | 'subscribe' | 'publish';
  /** Empty for the operation `connect`. */
  readonly channel: string;
}

export interface AuthorizerCall<U extends Uses> extends WorkerCall<U> {
  readonly request: AuthorizationRequest;
}

/**
 * A worker can run twice for the same message, and several times at once. SQS delivers a failed message up to five
 * times. Lambda repeats a failed batch of records. A worker for records returns the ids of failed ones: Lambda repeats
 * all from the first of them on.
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

export interface WorkerDeclaration<S extends Source, U extends Uses> {
  readonly name: string;
  readonly summary: string;
  readonly on: S;
  readonly uses: U;
  readonly impact: string;
  readonly timeoutSeconds: number;
  readonly requires?: 'heartbeat' | 'live';
}

export interface WorkerOf<S extends Source, U extends Uses> extends WorkerDeclaration<S, U> {
  readonly run: WorkerRun<S, U>;
}

export type Worker = WorkerDeclaration<Source, Record<string, Capability<unknown>>> & {
  readonly run: (call: never) => Promise<unknown>;
};

export function defineWorker<S extends Source, U extends Uses>(
  declaration: WorkerDeclaration<S, U>,
  run: WorkerRun<S, U>,
): WorkerOf<S, U> {
  return { ...declaration, run };
}

/** A retry cannot fix this error. The worker logs and counts the failure and acknowledges the message. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

export function workerId(name: string): string {
  return `worker.${name}`;
}

export function workerFile(name: string): string {
  return `functions/workers/${name}.ts`;
}
