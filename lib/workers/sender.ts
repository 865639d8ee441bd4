import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { noteFailure } from '../observability/dependencies.ts';
import { inParallel } from '../shared/inParallel.ts';
import { MAX_DELAY_SECONDS } from '../shared/sqsLimits.ts';
import { openSqs } from './sqsClient.ts';

export interface QueueMessage {
  /** The body contains ids, but no texts of customers. */
  readonly body: object;
  /**
   * A group has up to 128 visible ASCII characters. If messages of one group keep the consumers busy, SQS delivers
   * other groups first.
   */
  readonly groupId?: string | undefined;
  readonly delaySeconds?: number | undefined;
}

export interface QueueSender {
  /**
   * Repeats messages that SQS rejects temporarily. Throws if a call fails or SQS still rejects a message, although SQS
   * may have accepted others. Throws a RangeError and sends nothing if a message is too large, or its delay or group is
   * invalid.
   */
  send(messages: readonly QueueMessage[]): Promise<void>;
}

const BATCH_ENTRIES = 10;
/** SQS has this limit for one message and for a batch. */
const BATCH_BYTES = 1024 * 1024;
const PARALLEL = 4;
const PAUSES_MILLISECONDS = [100, 400, 1_600];

type Entry = SendMessageBatchRequestEntry & { readonly bytes: number };

export class SqsSender implements QueueSender {
  readonly #url: string;
  readonly #openClient: () => Pick<SQSClient, 'send'>;
  readonly #pauses: readonly number[];

  constructor(
    url: string,
    openClient: () => Pick<SQSClient, 'send'> = openSqs,
    pauses: readonly number[] = PAUSES_MILLISECONDS,
  ) {
    this.#url = url;
    this.#openClient = openClient;
    this.#pauses = pauses;
  }

  async send(messages: readonly QueueMessage[]): Promise<void> {
    const batches = groupIntoBatches(messages.map(toEntry));
    const errors: unknown[] = [];
    // All batches end before an error is thrown, so nothing continues in the background.
    await inParallel(batches, PARALLEL, (batch) =>
      this.#sendBatch(batch).catch((error: unknown) => void errors.push(error)),
    );
    if (errors.length === 0) return;
    noteFailure('queues', errors[0]);
    throw errors[0];
  }

  async #sendBatch(batch: readonly Entry[]): Promise<void> {
    let unsent = batch;
    for (const pause of [...this.#pauses, undefined]) {
      const failed = await this.#sendEntries(unsent);
      if (failed.size === 0) return;
      unsent = unsent.filter(({ Id }) => failed.has(Id ?? ''));
      const [example] = failed.values();
      const isPermanent = [...failed.values()].some(({ SenderFault }) => SenderFault);
      if (isPermanent || pause === undefined) throw rejectionError(failed.size, example?.Code, isPermanent);
      await sleep(pause * (0.5 + Math.random()));
    }
  }

  /** A successful response can contain rejections. */
  async #sendEntries(entries: readonly Entry[]): Promise<Map<string, BatchResultErrorEntry>> {
    const Entries = entries.map(({ bytes: _bytes, ...entry }) => entry);
    const { Failed = [] } = await this.#openClient().send(
      new SendMessageBatchCommand({ QueueUrl: this.#url, Entries }),
    );
    return new Map(Failed.map((failure) => [failure.Id ?? '', failure]));
  }
}

/**
 * The error's name makes the answer UNAVAILABLE if the rejection is temporary. The error has only the code from SQS,
 * because its other texts could quote a message.
 */
function rejectionError(count: number, code = 'unknown', isPermanent: boolean): Error {
  const error = new Error(`SQS rejected ${count} messages: ${code}`);
  if (!isPermanent) error.name = 'ServiceUnavailable';
  return error;
}

function toEntry({ body, groupId, delaySeconds }: QueueMessage, index: number): Entry {
  const MessageBody = toText(body);
  const bytes = Buffer.byteLength(MessageBody);
  if (bytes > BATCH_BYTES) throw new RangeError(`A message has ${bytes} bytes. SQS accepts at most ${BATCH_BYTES}`);
  // SQS would reject this message and accept the others.
  if (
    delaySeconds !== undefined &&
    !(Number.isInteger(delaySeconds) && delaySeconds >= 0 && delaySeconds <= MAX_DELAY_SECONDS)
  ) {
    throw new RangeError(
      `The delay of a message is ${delaySeconds} s. SQS accepts whole seconds from 0 to ${MAX_DELAY_SECONDS}`,
    );
  }
  if (groupId !== undefined && !/^[\x21-\x7e]{1,128}$/.test(groupId))
    throw new RangeError('The group of a message must have 1 to 128 visible ASCII characters');
  return {
    Id: String(index),
    MessageBody,
    bytes,
    ...(groupId !== undefined && { MessageGroupId: groupId }),
    ...(delaySeconds !== undefined && { DelaySeconds: delaySeconds }),
  };
}

/** SQS rejects U+FFFE and U+FFFF. `fauxqs`, the queue server of the tests, also rejects characters above U+FFFF. */
function toText(body: object): string {
  return JSON.stringify(body).replace(
    /[\ud800-\udfff\ufffe\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
  );
}

function groupIntoBatches(entries: readonly Entry[]): Entry[][] {
  const batches: Entry[][] = [];
  let size = 0;
  for (const entry of entries) {
    const current = batches.at(-1);
    if (current && current.length < BATCH_ENTRIES && size + entry.bytes <= BATCH_BYTES) {
      current.push(entry);
      size += entry.bytes;
    } else {
      batches.push([entry]);
      size = entry.bytes;
    }
  }
  return batches;
}

export function openSender(url: string): QueueSender {
  return new SqsSender(url);
}
