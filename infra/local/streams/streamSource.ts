import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { StreamSourceModel } from '../assembly/eventSourceModels.ts';
import { REGION } from '../iam/identity.ts';
import { failedItems } from '../queues/failedItems.ts';
import type { StreamPosition } from './streamPositions.ts';
import type { ReadRecord, StreamReader } from './streamReader.ts';

/** Finds writes after which nothing called `wake`. */
const POLL_MILLISECONDS = 1_000;
/** A pause before the next read lets it return the records of several writes. */
const PAUSE_MILLISECONDS = 10;
/** After fewer records, the source waits before it reads again. */
const FULL_READ = 50;
/** Limits the memory, and the records that are read again after a crash. */
const MAX_PENDING = 2_000;
const RETRY_MILLISECONDS = { first: 100, most: 10_000 };

export interface StreamSourceOptions {
  readonly model: StreamSourceModel;
  readonly reader: Pick<StreamReader, 'next'>;
  readonly save: (position: StreamPosition) => void;
  /** Returns the result as a JSON text. */
  readonly invoke: (event: object) => Promise<string>;
  /** Called with a description of skipped records. */
  readonly onSkipped: (account: object) => void;
  /** Called for the first of several failed reads in a row. */
  readonly onError: (error: unknown) => void;
  /** Called with the age of a batch's last record. */
  readonly measureAge?: (milliseconds: number) => void;
  readonly pause?: (retry: number, signal: AbortSignal) => Promise<void>;
}

interface Pending extends ReadRecord {
  done: boolean;
}

/** Batches that run one after the other. All records of a partition key have the same lane. */
interface Lane {
  readonly waiting: Pending[];
  working: Promise<void> | undefined;
}

/**
 * Stands in for Lambda's event source of a stream. Batches run in parallel, and records of one partition key stay in
 * order. The stored position is before the first record that is not done, so after a crash records can repeat.
 */
export class StreamSource {
  readonly #options: StreamSourceOptions;
  readonly #pending: Pending[] = [];
  readonly #lanes: readonly Lane[];
  readonly #reading: Promise<void>;
  readonly #stop = new AbortController();
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: StreamSourceOptions) {
    this.#options = options;
    this.#lanes = Array.from({ length: options.model.lanes }, () => ({ waiting: [], working: undefined }));
    this.#reading = this.#read();
  }

  wake(): void {
    this.#wake.resolve();
  }

  /** Waits for running batches. The next start reads waiting records again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#reading;
    await Promise.all(this.#lanes.flatMap(({ working }) => working ?? []));
  }

  async #read(): Promise<void> {
    const { reader, onError } = this.#options;
    const { signal } = this.#stop;
    let readable = true;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const records =
        this.#pending.length >= MAX_PENDING
          ? []
          : await reader.next().then(
              (read) => {
                readable = true;
                return read;
              },
              (error: unknown) => {
                if (readable && !signal.aborted) onError(error);
                readable = false;
                return [];
              },
            );
      if (records.length > 0) this.#accept(records);
      if (records.length < FULL_READ) await this.#waitForRecords();
    }
  }

  async #waitForRecords(): Promise<void> {
    const timer = setTimeout(() => this.wake(), POLL_MILLISECONDS);
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
    const lane = this.#lanes[hash % this.#lanes.length];
    if (!lane) throw new Error('A stream source needs at least one lane');
    return lane;
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #work(lane: Lane): Promise<void> {
    const { batchSize } = this.#options.model;
    while (lane.waiting.length > 0 && !this.#stop.signal.aborted) {
      await this.#deliver(lane.waiting.splice(0, batchSize), 0);
    }
    // No `await` may stand between the last check of `waiting` and this line. Otherwise a record that arrives in
    // between would wait until more records arrive.
    lane.working = undefined;
  }

  async #deliver(batch: readonly Pending[], retries: number): Promise<void> {
    const { model, pause = backOff } = this.#options;
    if (this.#isStopped()) return;
    const { unfinished, hasThrown } = await this.#attempt(batch);
    this.#finish(batch.slice(0, batch.length - unfinished.length));
    // An interrupted call does not count as failed.
    if (unfinished.length === 0 || this.#isStopped()) return;
    if (hasThrown && model.bisects && unfinished.length > 1) {
      // As in Lambda, splitting a batch does not count as a retry.
      const middle = Math.ceil(unfinished.length / 2);
      await this.#deliver(unfinished.slice(0, middle), retries);
      return this.#deliver(unfinished.slice(middle), retries);
    }
    // If earlier records succeeded, this is the first retry of the failed one.
    const retry = unfinished.length < batch.length ? 1 : retries + 1;
    if (retry > model.maxRetries) {
      this.#skip(unfinished, retry);
      return;
    }
    await pause(retry, this.#stop.signal);
    return this.#deliver(unfinished, retry);
  }

  /** Unfinished are the first failed record and all after it, or all if the function throws. */
  async #attempt(batch: readonly Pending[]): Promise<{ unfinished: readonly Pending[]; hasThrown: boolean }> {
    const { model, invoke, measureAge } = this.#options;
    const last = batch.at(-1);
    if (last) measureAge?.(Math.max(0, Date.now() - arrivedAt(last)));
    const records = batch.map(({ record }) => ({ ...record, awsRegion: REGION, eventSourceARN: model.arn }));
    const answer = await invoke({ Records: records }).catch(() => undefined);
    if (answer === undefined) return { unfinished: batch, hasThrown: true };
    const failed = failedItems(
      model,
      answer,
      batch.map(({ position }) => position.sequence),
    );
    const first = batch.findIndex(({ position }) => failed.includes(position.sequence));
    return { unfinished: first < 0 ? [] : batch.slice(first), hasThrown: false };
  }

  #skip(batch: readonly Pending[], attempts: number): void {
    const { model, onSkipped } = this.#options;
    const [first, last] = [batch.at(0), batch.at(-1)];
    if (!first || !last) return;
    onSkipped({
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

  #advance(): void {
    const wasFull = this.#pending.length >= MAX_PENDING;
    const open = this.#pending.findIndex(({ done }) => !done);
    const [last] = this.#pending.splice(0, open < 0 ? this.#pending.length : open).slice(-1);
    if (!last) return;
    this.#options.save(last.position);
    if (wasFull) this.wake();
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
