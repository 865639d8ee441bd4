import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { inParallel } from '../shared/inParallel.ts';
import { openSqs } from './sqsClient.ts';
import { LONGEST_DELAY_SECONDS } from '../shared/sqsLimits.ts';

export interface QueueMessage {
  /** Sent as JSON; ids, not contents. */
  readonly body: object;
  /** Whose message it is: SQS puts a group that keeps the consumers busy behind the others. Up to 128 visible ASCII characters. */
  readonly groupId?: string | undefined;
  /** How long nobody gets it, 0 to 900. */
  readonly delaySeconds?: number | undefined;
}

export interface QueueSender {
  /**
   * Sends any number of messages, in batches. When it throws some may have been sent: a caller that tries again sends them
   * twice. What SQS does not take for the moment is tried again and then thrown as an error that answers UNAVAILABLE; a
   * message that it would never take (too large, a delay over 900 s) is a RangeError, and then none is sent.
   */
  send(messages: readonly QueueMessage[]): Promise<void>;
}

const BATCH_ENTRIES = 10;
/** What one message may have, and all of a batch together. */
const BATCH_BYTES = 1024 * 1024;
const PARALLEL = 4;
/** How long to wait before each further try of what SQS did not take. */
const PAUSES_MILLISECONDS = [100, 400, 1_600];

type Entry = SendMessageBatchRequestEntry & { readonly bytes: number };

/** Sends to one queue of SQS. */
export class SqsSender implements QueueSender {
  readonly #url: string;
  readonly #client: Pick<SQSClient, 'send'>;
  readonly #pauses: readonly number[];

  constructor(url: string, client: Pick<SQSClient, 'send'>, pauses: readonly number[] = PAUSES_MILLISECONDS) {
    this.#url = url;
    this.#client = client;
    this.#pauses = pauses;
  }

  async send(messages: readonly QueueMessage[]): Promise<void> {
    const batches = batchesOf(messages.map(toEntry));
    const errors: unknown[] = [];
    // All are waited for: nothing may go on in the background once the caller knows of an error.
    await inParallel(batches, PARALLEL, (batch) =>
      this.#sendBatch(batch).catch((error: unknown) => void errors.push(error)),
    );
    if (errors.length > 0) throw errors[0];
  }

  async #sendBatch(batch: readonly Entry[]): Promise<void> {
    let rest = batch;
    for (const pause of [...this.#pauses, undefined]) {
      const failed = await this.#failuresOf(rest);
      if (failed.size === 0) return;
      rest = rest.filter(({ Id }) => failed.has(Id!));
      const [example] = failed.values();
      const hopeless = [...failed.values()].some(({ SenderFault }) => SenderFault);
      if (hopeless || pause === undefined) throw notTaken(failed.size, example!, hopeless);
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
    }
  }

  /** What SQS did not take, by the entry's id: an answer without an error can contain failures. */
  async #failuresOf(entries: readonly Entry[]): Promise<Map<string, BatchResultErrorEntry>> {
    const Entries = entries.map(({ bytes: _bytes, ...entry }) => entry);
    const { Failed = [] } = await this.#client.send(new SendMessageBatchCommand({ QueueUrl: this.#url, Entries }));
    return new Map(Failed.map((failure) => [failure.Id!, failure]));
  }
}

/** The name of the error says whether it is AWS that could not cope (see `toApiError`). SQS's own text could repeat the message. */
function notTaken(count: number, { Code = 'unknown' }: BatchResultErrorEntry, hopeless: boolean): Error {
  const error = new Error(`SQS did not take ${count} messages: ${Code}`);
  if (!hopeless) error.name = 'ServiceUnavailable';
  return error;
}

function toEntry({ body, groupId, delaySeconds }: QueueMessage, index: number): Entry {
  const MessageBody = toText(body);
  const bytes = Buffer.byteLength(MessageBody);
  if (bytes > BATCH_BYTES) throw new RangeError(`A message has ${bytes} bytes; SQS takes ${BATCH_BYTES}`);
  // Before anything is sent, and by name: SQS would refuse the one entry and take the others.
  if (
    delaySeconds !== undefined &&
    !(Number.isInteger(delaySeconds) && delaySeconds >= 0 && delaySeconds <= LONGEST_DELAY_SECONDS)
  ) {
    throw new RangeError(
      `A message is delayed by ${delaySeconds} s; SQS knows whole seconds from 0 to ${LONGEST_DELAY_SECONDS}`,
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

/** As JSON, in which what SQS refuses (U+FFFE and U+FFFF) and what the local queues refuse (all beyond U+FFFF) is escaped. */
function toText(body: object): string {
  return JSON.stringify(body).replace(
    /[\ud800-\udfff\ufffe\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
  );
}

function batchesOf(entries: readonly Entry[]): Entry[][] {
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

/** A sender to the queue at this address. */
export function openSender(url: string): QueueSender {
  return new SqsSender(url, openSqs());
}
