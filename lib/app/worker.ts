import type * as z from 'zod';
import type { Log } from '../observability/log.ts';
import type { Measures } from '../observability/measures.ts';
import type { Capability, Opened, QueueName, Uses } from './capability.ts';

export interface FromQueue<M extends z.ZodType = z.ZodType> {
  readonly queue: QueueName;
  /** SQS redelivers a message that does not match, and finally moves it to the dead-letter queue. */
  readonly message: M;
}

export interface FromInserts {
  readonly inserts: readonly [string, ...string[]];
}

/** Matches the whole part of a key, its beginning, or its end. */
export type KeyPattern = string | { readonly prefix: string } | { readonly suffix: string };

/** Gets changed items from the table's stream. */
export interface FromChanges {
  /** Entity types (`_t`) of new and modified items. */
  readonly changes: readonly [string, ...string[]];
  /** Kinds of new jobs. Changes of jobs are frequent and left out. */
  readonly newJobs: readonly [string, ...string[]];
  /** By patterns of their keys: the stream does not have the types of removed items. */
  readonly removals: readonly { readonly PK?: readonly KeyPattern[]; readonly SK?: readonly KeyPattern[] }[];
}

/** Decides whether a user of the push service may connect, subscribe or publish. */
export interface FromAuthorizer {
  readonly authorizes: 'live';
}

export interface FromTimer {
  readonly every: 'minute';
}

export type Source = FromQueue | FromInserts | FromChanges | FromAuthorizer | FromTimer;

export interface WorkerCall<U extends Uses> {
  readonly deps: Opened<U>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** `<prefix>_` and 27 base-62 characters. Ids with the same prefix sort by time. */
  readonly newId: (prefix: string) => string;
  /** Epoch ms, half a second before Lambda ends the function. A run that takes longer counts as failed. */
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
  /** Of the stream record. `run` returns it if the record failed. */
  readonly id: string;
  readonly key: ItemKey;
  /** `fromItem` of its entity parses it. Lambda passes binary attributes as base64 text. */
  readonly item: Record<string, unknown>;
  /** Epoch ms, rounded to seconds. */
  readonly createdAt: number;
}

export interface InsertsCall<U extends Uses> extends WorkerCall<U> {
  /** In the order of their writes, if they have the same partition key. */
  readonly records: readonly InsertedItem[];
}

export interface ChangedItem {
  /** The sequence number. `run` returns it if the record failed. */
  readonly id: string;
  /** Sequence numbers can be compared only within one stream. A restored table has a new one. */
  readonly stream: string;
  readonly change: 'insert' | 'modify' | 'remove';
  readonly key: ItemKey;
  /** Undefined for a removed item. Lambda passes binary attributes as base64 text. */
  readonly item: Record<string, unknown> | undefined;
  /** Epoch ms, rounded to seconds. */
  readonly at: number;
}

export interface ChangesCall<U extends Uses> extends WorkerCall<U> {
  /** In the order of their writes, if they have the same partition key. */
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
 * Can run twice for the same message, and several runs can overlap. After an error:
 *
 * - SQS redelivers a message after the visibility timeout, up to five times.
 * - Lambda repeats a batch of inserts or changes without a pause.
 * - A timer runs again in the next minute.
 *
 * A worker for inserts or changes returns the ids of failed records. Lambda sends the first of them and all later
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

/** Function, IAM policy, environment, bundle, event source, alarms and dashboard derive from this declaration. */
export interface WorkerDeclaration<S extends Source, U extends Uses> {
  /** In camel case, as the file `functions/workers/<name>.ts`. */
  readonly name: string;
  readonly summary: string;
  readonly on: S;
  readonly uses: U;
  /** The text of the alarms: what is broken, and for whom. */
  readonly impact: string;
  readonly timeoutSeconds: number;
  /** The setting without which the worker is not deployed. */
  readonly requires?: 'heartbeat' | 'live';
}

export interface WorkerOf<S extends Source, U extends Uses> extends WorkerDeclaration<S, U> {
  readonly run: WorkerRun<S, U>;
}

export type Worker = WorkerDeclaration<Source, Record<string, Capability<unknown>>> & {
  // `never`, because the list has workers of every message type.
  readonly run: (call: never) => Promise<unknown>;
};

export function defineWorker<S extends Source, U extends Uses>(
  declaration: WorkerDeclaration<S, U>,
  run: WorkerRun<S, U>,
): WorkerOf<S, U> {
  return { ...declaration, run };
}

/** A retry cannot fix it. The worker logs and counts the failure and acknowledges the message. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

export function workerId(name: string): string {
  return `worker.${name}`;
}

export function workerFile(name: string): string {
  return `functions/workers/${name}.ts`;
}
