/**
 * Simulates SQS, the table's stream and timers in memory. The simulation calls the Lambda handlers of the workers in
 * this process.
 */
import { type SendMessageBatchCommandInput, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import * as registry from '../../../functions/workers/index.ts';
import type { QueueName } from '../../../lib/app/capability.ts';
import type { Worker } from '../../../lib/app/worker.ts';
import { toWorkerLambda, type WorkerHandler } from '../../../lib/workers/lambda.ts';
import { queues } from '../../../lib/workers/queues.ts';
import type { Item } from '../../support/tableExpressions.ts';
import { times } from '../../support/times.ts';
import { insertsEvent } from '../../support/workers.ts';
import type { FunctionThreads } from './functionThreads.ts';

const SECOND = 1_000;
const STREAM_BATCH = 100;
/** The pause between two batches of one queue. In reality, SQS takes longer than this to receive and delete a batch. */
const START_MILLISECONDS = 5;
/** The pause between two reads of the stream. */
const STREAM_POLL_MILLISECONDS = 5;
/**
 * A message group is noisy if its messages in flight exceed both limits. SQS serves the other groups first. `part` is
 * the share of all messages in flight.
 */
const NOISY = { messages: 30, part: 0.1 };

const realNow = Date.now;

interface Message {
  readonly id: string;
  readonly body: string;
  readonly group: string | undefined;
  readonly sentAt: number;
  visibleAt: number;
  receives: number;
}

interface Queue {
  readonly name: QueueName;
  readonly ready: Message[];
  /** The number of messages in flight, by message group. */
  readonly inFlight: Map<string, number>;
  running: number;
  /** Whether the pause after the last start of a batch still runs. */
  isStarting: boolean;
}

/**
 * Runs the workers as Lambda does: for batches of messages, for batches of new items, and on a schedule. Replaces the
 * SQS client of this process, so create it before the first message is sent.
 */
export class Cloud {
  /** The number of SQS requests to send, receive and delete messages. */
  sqsRequests = 0;
  /** The number of messages and stream records whose processing failed. */
  failures = 0;
  /** The maximum number of messages of one invocation. If undefined, each queue's declared batch size applies. */
  batchSize: number | undefined;
  /** Threads that run the functions that have one. Other functions run in this thread. */
  threads: FunctionThreads | undefined;
  /** Runs an invocation. A bench replaces it to measure each invocation. */
  onRun: (run: () => Promise<unknown>) => Promise<unknown> = (run) => run();
  /** How far the clock of this process is ahead of the real time, in milliseconds. */
  #ahead = 0;
  /** The time at which the clock was stopped, in epoch milliseconds. */
  #stoppedAt: number | undefined;
  #ids = 0;
  readonly #queues = new Map<string, Queue>();
  readonly #delayed: { readonly queue: Queue; readonly message: Message }[] = [];
  readonly #inserts: Item[] = [];
  /** The workers of a deployment with the default settings. */
  readonly #workers = Object.values(registry as Record<string, Worker>)
    .filter(({ requires }) => requires === undefined)
    .map((worker) => ({
      worker,
      // The worker's type is lost in the registry, which holds workers of all types.
      handler: toWorkerLambda(worker as Parameters<typeof toWorkerLambda>[0]),
    }));
  /** The types of the items whose inserts a worker processes. */
  readonly #insertTypes = new Set(
    this.#workers.flatMap(({ worker: { on } }) => ('inserts' in on ? (on.inserts as readonly string[]) : [])),
  );
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #pending = new Set<Promise<void>>();
  #live = false;

  constructor() {
    for (const name of Object.keys(queues) as QueueName[])
      this.#queues.set(name, { name, ready: [], inFlight: new Map(), running: 0, isStarting: false });
    const send = (command: { readonly input: unknown }) => this.answer(command.input as SendMessageBatchCommandInput);
    SQSClient.prototype.send = send as typeof SQSClient.prototype.send;
    Date.now = () => this.#baseTime() + this.#ahead;
  }

  readonly insert = (item: Item): void => {
    if (this.#insertTypes.has(item._t as string)) this.#inserts.push(item);
  };

  /** The number of messages that wait or are processed. Delayed messages do not count. */
  busy(name: QueueName): number {
    const { ready, inFlight } = this.#queues.get(name)!;
    return ready.length + [...inFlight.values()].reduce((sum, count) => sum + count, 0);
  }

  // The following methods are for measurements on a stopped clock. They return when their work is done.

  /**
   * Stops the clock of this process. Afterwards only `advanceTo` moves the clock, so measurements do not depend on the speed of
   * the machine.
   */
  stopClock(): void {
    this.#stoppedAt = realNow();
  }

  /** Moves the clock of this process forward to a time in epoch milliseconds. */
  advanceTo(time: number): void {
    this.#ahead = Math.max(this.#ahead, time - this.#baseTime());
  }

  #baseTime(): number {
    return this.#stoppedAt ?? realNow();
  }

  /** Processes all work that is due now, one batch after the other. */
  async drain(): Promise<void> {
    for (;;) {
      this.#release();
      if (this.#inserts.length > 0) await this.#runStream();
      else {
        const queue = [...this.#queues.values()].find(({ ready }) => ready.length > 0);
        if (!queue) return;
        await this.#runBatch(queue, this.#take(queue));
      }
    }
  }

  /** Processes the messages of one queue in `width` parallel batches, until the value of `performance.now`. */
  async drainQueue(name: QueueName, width: number, until = Infinity): Promise<void> {
    this.#release();
    const queue = this.#queues.get(name)!;
    const work = async () => {
      while (queue.ready.length > 0 && performance.now() < until) await this.#runBatch(queue, this.#take(queue));
    };
    await Promise.all(times(width, work));
  }

  /** Processes new items of the stream. Does not process the messages that result. */
  async fanOut(): Promise<void> {
    while (this.#inserts.length > 0) await this.#runStream();
  }

  async tick(): Promise<void> {
    for (const each of this.#workers) if ('every' in each.worker.on) await this.#invoke(each, {});
  }

  /** The time of the next delayed message in epoch milliseconds. */
  get nextMessageAt(): number {
    return Math.min(Infinity, ...this.#delayed.map(({ message }) => message.visibleAt));
  }

  // The following methods are for measurements in real time.

  /** Processes messages and new items when they arrive, with each queue's declared concurrency. */
  start(): void {
    this.#live = true;
    this.#every(STREAM_POLL_MILLISECONDS, () => {
      while (this.#inserts.length > 0) this.#track(this.#runStream());
    });
    this.#every(60 * SECOND, () => this.#track(this.tick()));
    this.#every(10, () => {
      this.#release();
      this.#pump();
    });
    this.#pump();
  }

  /** Stops receiving messages. Does not wait for running invocations. */
  stop(): void {
    this.#live = false;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers.clear();
  }

  #every(milliseconds: number, work: () => void): void {
    this.#timers.add(setInterval(work, milliseconds));
  }

  #pump(): void {
    if (this.#live) for (const queue of this.#queues.values()) this.#startBatch(queue);
  }

  /**
   * Starts a batch of a queue, and the next batch after a pause. All invocations share one processor here. If many
   * batches started at once, batches of other queues would have to wait.
   */
  #startBatch(queue: Queue): void {
    if (queue.isStarting || queue.ready.length === 0 || queue.running >= queues[queue.name].maxConcurrency) return;
    queue.running++;
    queue.isStarting = true;
    const work = this.#runBatch(queue, this.#take(queue)).finally(() => {
      queue.running--;
      this.#pump();
    });
    this.#track(work);
    setTimeout(() => {
      queue.isStarting = false;
      this.#pump();
    }, START_MILLISECONDS);
  }

  #track(work: Promise<void>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  /** Executes an SQS command: sends messages, or returns the number of waiting messages. */
  async answer({ QueueUrl = '', Entries }: SendMessageBatchCommandInput): Promise<object> {
    this.sqsRequests++;
    const queue = this.#queues.get(QueueUrl.split('/').at(-1)!)!;
    // A GetQueueAttributes command has no entries.
    if (!Entries) return { Attributes: { ApproximateNumberOfMessages: String(queue.ready.length) } };
    const now = Date.now();
    for (const { MessageBody = '', MessageGroupId: group, DelaySeconds = 0 } of Entries) {
      const id = String(++this.#ids);
      const message = {
        id,
        body: MessageBody,
        group,
        sentAt: now,
        visibleAt: now + DelaySeconds * SECOND,
        receives: 0,
      };
      if (DelaySeconds === 0) queue.ready.push(message);
      else this.#delayed.push({ queue, message });
    }
    this.#pump();
    return {};
  }

  #release(): void {
    const now = Date.now();
    for (let index = this.#delayed.length - 1; index >= 0; index--) {
      const { queue, message } = this.#delayed[index]!;
      if (message.visibleAt > now) continue;
      this.#delayed.splice(index, 1);
      queue.ready.push(message);
    }
  }

  /** Receives a batch. Messages of noisy groups come last, as in fair queues of SQS. */
  #take(queue: Queue): Message[] {
    const size = this.batchSize ?? queues[queue.name].batchSize;
    const all = [...queue.inFlight.values()].reduce((sum, count) => sum + count, 0);
    const isNoisy = ({ group = '' }: Message) => {
      const inFlight = queue.inFlight.get(group) ?? 0;
      return inFlight >= NOISY.messages && inFlight > NOISY.part * all;
    };
    const batch: Message[] = [];
    for (const takesNoisy of [false, true]) {
      for (let index = 0; index < queue.ready.length && batch.length < size;) {
        if (isNoisy(queue.ready[index]!) === takesNoisy) batch.push(...queue.ready.splice(index, 1));
        else index++;
      }
    }
    return batch;
  }

  async #runBatch(queue: Queue, batch: Message[]): Promise<void> {
    const consumer = this.#workers.find(({ worker: { on } }) => 'queue' in on && on.queue === queue.name);
    if (!consumer) throw new Error(`The queue ${queue.name} has no consumer`);
    const count = (by: number) => {
      for (const { group = '' } of batch) queue.inFlight.set(group, (queue.inFlight.get(group) ?? 0) + by);
    };
    count(1);
    const Records = batch.map((message) => ({
      messageId: message.id,
      body: message.body,
      attributes: { ApproximateReceiveCount: String(++message.receives), SentTimestamp: String(message.sentAt) },
      eventSource: 'aws:sqs',
    }));
    // A batch needs one request to receive its messages and one to delete them.
    this.sqsRequests += 2;
    const answer = await this.#invoke(consumer, { Records }).catch(() => undefined);
    count(-1);
    const failed = answer
      ? new Set(
          (answer as { batchItemFailures: { itemIdentifier: string }[] }).batchItemFailures.map(
            (f) => f.itemIdentifier,
          ),
        )
      : new Set(batch.map(({ id }) => id));
    for (const message of batch) {
      if (!failed.has(message.id)) continue;
      this.failures++;
      message.visibleAt = Date.now() + 180 * SECOND;
      this.#delayed.push({ queue, message });
    }
  }

  async #runStream(): Promise<void> {
    const batch = this.#inserts.splice(0, STREAM_BATCH);
    for (const each of this.#workers) {
      const { on } = each.worker;
      if (!('inserts' in on)) continue;
      const event: DynamoDBStreamEvent = insertsEvent(batch.filter(({ _t }) => on.inserts.includes(_t as string)));
      if (event.Records.length === 0) continue;
      const { batchItemFailures } = (await this.#invoke(each, event)) as { batchItemFailures: unknown[] };
      this.failures += batchItemFailures.length;
    }
  }

  async #invoke({ worker, handler }: { worker: Worker; handler: WorkerHandler }, event: object): Promise<unknown> {
    const awsRequestId = String(++this.#ids);
    const milliseconds = worker.timeoutSeconds * SECOND;
    const { threads } = this;
    if (threads?.has(worker.name))
      return this.onRun(() => threads.invoke(worker.name, event, awsRequestId, milliseconds));
    const until = realNow() + milliseconds;
    const context = { awsRequestId, getRemainingTimeInMillis: () => until - realNow() };
    return this.onRun(() => handler(event, context));
  }
}
