import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { failedItems } from '../queues/batchAnswer.ts';
import type { StreamSourceModel } from './eventSourceModels.ts';
import { REGION } from '../iam/identity.ts';
import type { ReadRecord, StreamReader } from './streamReader.ts';
import type { StreamPosition } from './streamPositions.ts';

/** Writers tell when there is something to read; this is for what is written past them. */
const LOOK_MILLISECONDS = 1_000;
/** So that many writes at once are read together. */
const PAUSE_MILLISECONDS = 10;
/** Records read and not yet done with: what memory holds, and what comes again after a crash. */
const MOST_PENDING = 2_000;
const RETRY_MILLISECONDS = { first: 100, most: 10_000 };

export interface StreamSourceOptions {
  readonly model: StreamSourceModel;
  readonly reader: Pick<StreamReader, 'next'>;
  /** Remembers that everything up to here is done. */
  save(position: StreamPosition): void;
  /** Gives the function's answer as JSON, or rejects. */
  invoke(event: object): Promise<string>;
  /** Takes the account of records that were given up. */
  discard(account: object): void;
  /** Called with what went wrong when the stream begins to be unreadable; it is tried again. */
  onError(error: unknown): void;
  /** Called with how old the last record of a batch is, whenever the function is given one. */
  measureAge?(milliseconds: number): void;
  /** Waits before the nth retry; for tests. */
  pause?(retry: number, signal: AbortSignal): Promise<void>;
}

interface Pending extends ReadRecord {
  done: boolean;
}

/** What is done one batch after the other. */
interface Lane {
  readonly waiting: Pending[];
  working: Promise<void> | undefined;
}

/**
 * Lambda's event source for a table's stream: records that pass the filter go to the function in batches, several batches at a
 * time, those of one partition key in their order. The position that is remembered is the one before which everything is
 * done, so that after a crash records can come again, and none is left out.
 */
export class StreamSource {
  readonly #options: StreamSourceOptions;
  readonly #pending: Pending[] = [];
  readonly #lanes: readonly Lane[];
  readonly #reading: Promise<void>;
  readonly #stop = new AbortController();
  #wake = Promise.withResolvers<void>();

  /** Starts at once. */
  constructor(options: StreamSourceOptions) {
    this.#options = options;
    this.#lanes = Array.from({ length: options.model.lanes }, () => ({ waiting: [], working: undefined }));
    this.#reading = this.#read();
  }

  /** Tells that there may be something new. */
  nudge(): void {
    this.#wake.resolve();
  }

  /** Reads nothing any more, and resolves when the batches under way are done; those that wait are read again at the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.nudge();
    await this.#reading;
    await Promise.all(this.#lanes.map(({ working }) => working));
  }

  async #read(): Promise<void> {
    const { reader, onError } = this.#options;
    const { signal } = this.#stop;
    let readable = true;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const records =
        this.#pending.length >= MOST_PENDING
          ? []
          : await reader.next().then(
              (read) => {
                readable = true;
                return read;
              },
              (error: unknown) => {
                // Once, and not every second of an outage.
                if (readable && !signal.aborted) onError(error);
                readable = false;
                return [];
              },
            );
      if (records.length > 0) this.#accept(records);
      else await this.#somethingNew();
    }
  }

  async #somethingNew(): Promise<void> {
    const timer = setTimeout(() => this.nudge(), LOOK_MILLISECONDS);
    const waitedSince = performance.now();
    await this.#wake.promise;
    clearTimeout(timer);
    if (performance.now() - waitedSince < PAUSE_MILLISECONDS) await delay(PAUSE_MILLISECONDS);
  }

  #accept(records: readonly ReadRecord[]): void {
    const { model } = this.#options;
    for (const { record, position } of records) {
      const pending = { record, position, done: !model.filter(record) };
      this.#pending.push(pending);
      if (!pending.done) this.#lane(record.dynamodb.Keys[model.partitionKey]).waiting.push(pending);
    }
    this.#advance();
    for (const lane of this.#lanes) if (lane.waiting.length > 0) lane.working ??= this.#work(lane);
  }

  #lane(partitionKey: unknown): Lane {
    const hash = createHash('md5').update(JSON.stringify(partitionKey)).digest().readUInt32BE();
    return this.#lanes[hash % this.#lanes.length]!;
  }

  async #work(lane: Lane): Promise<void> {
    const { batchSize, windowMilliseconds } = this.#options.model;
    while (lane.waiting.length > 0 && !this.#stop.signal.aborted) {
      if (windowMilliseconds > 0 && lane.waiting.length < batchSize) await delay(windowMilliseconds);
      await this.#deliver(lane.waiting.splice(0, batchSize), 0);
    }
    // In the same turn as the last look at what waits, so that nothing comes in between.
    lane.working = undefined;
  }

  /** Calls the function for these until they are done or given up. */
  async #deliver(batch: readonly Pending[], retries: number): Promise<void> {
    const { model, pause = backOff } = this.#options;
    if (this.#stop.signal.aborted) return;
    const { rest, threw } = await this.#attempt(batch);
    this.#finish(batch.slice(0, batch.length - rest.length));
    // A call that was cut off by the stop did not fail: the records come again at the next start.
    if (rest.length === 0 || this.#stop.signal.aborted) return;
    if (threw && model.splits && rest.length > 1) {
      // Splitting is no retry: Lambda does not count it either.
      const middle = Math.ceil(rest.length / 2);
      await this.#deliver(rest.slice(0, middle), retries);
      return this.#deliver(rest.slice(middle), retries);
    }
    // What fails now for the first time has all its retries before it.
    const retry = rest.length < batch.length ? 1 : retries + 1;
    if (retry > model.maxRetries) return this.#giveUp(rest, retry);
    await pause(retry, this.#stop.signal);
    return this.#deliver(rest, retry);
  }

  /** What is left of a batch after a call: all of it if the function threw, else from the first record on that it says has failed. */
  async #attempt(batch: readonly Pending[]): Promise<{ rest: readonly Pending[]; threw: boolean }> {
    const { model, invoke, measureAge } = this.#options;
    measureAge?.(Math.max(0, Date.now() - arrivedAt(batch.at(-1)!)));
    const records = batch.map(({ record }) => ({ ...record, awsRegion: REGION, eventSourceARN: model.arn }));
    const answer = await invoke({ Records: records }).catch(() => undefined);
    if (answer === undefined) return { rest: batch, threw: true };
    const failed = model.reportsFailures
      ? failedItems(
          answer,
          batch.map(({ position }) => position.sequence),
        )
      : [];
    const first = batch.findIndex(({ position }) => failed.includes(position.sequence));
    return { rest: first < 0 ? [] : batch.slice(first), threw: false };
  }

  #giveUp(batch: readonly Pending[], attempts: number): void {
    const { model, discard } = this.#options;
    const [first, last] = [batch[0]!, batch.at(-1)!];
    discard({
      requestContext: {
        requestId: randomUUID(),
        functionArn: `${model.function.arn}:$LATEST`,
        condition: 'RetryAttemptsExhausted',
        approximateInvokeCount: attempts,
      },
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      version: '1.0',
      timestamp: new Date().toISOString(),
      DDBStreamBatchInfo: {
        shardId: first.position.shard,
        startSequenceNumber: first.position.sequence,
        endSequenceNumber: last.position.sequence,
        approximateArrivalOfFirstRecord: arrival(first),
        approximateArrivalOfLastRecord: arrival(last),
        batchSize: batch.length,
        streamArn: model.arn,
      },
    });
    this.#finish(batch);
  }

  #finish(batch: readonly Pending[]): void {
    for (const pending of batch) pending.done = true;
    this.#advance();
  }

  /** Remembers how far everything is done. */
  #advance(): void {
    const open = this.#pending.findIndex(({ done }) => !done);
    const [last] = this.#pending.splice(0, open < 0 ? this.#pending.length : open).slice(-1);
    if (!last) return;
    this.#options.save(last.position);
    this.nudge();
  }
}

function arrival(pending: Pending): string {
  return new Date(arrivedAt(pending)).toISOString();
}

function arrivedAt({ record }: Pending): number {
  return record.dynamodb.ApproximateCreationDateTime * 1000;
}

async function backOff(retry: number, signal: AbortSignal): Promise<void> {
  const milliseconds = Math.min(RETRY_MILLISECONDS.most, RETRY_MILLISECONDS.first * 2 ** (retry - 1));
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
