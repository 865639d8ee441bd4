import type { QueueSourceModel } from '../assembly/eventSourceModels.ts';
import { REGION } from '../iam/identity.ts';
import { failedItems } from './failedItems.ts';
import type { MessageAttribute, QueueStore, ReceivedMessage } from './queueStore.ts';
import { md5, systemAttributes } from './sqs.ts';

const WAIT_MILLISECONDS = 20_000;

export type Messages = Pick<QueueStore, 'receive' | 'delete' | 'waitForMessage' | 'wake'>;

/**
 * Does what Lambda's event source for a queue does. Batches run in parallel. Failed messages become visible again after
 * the visibility timeout.
 */
export class QueueSource {
  readonly #model: QueueSourceModel;
  readonly #messages: Messages;
  readonly #invoke: (event: object) => Promise<string>;
  readonly #batches = new Set<Promise<void>>();
  readonly #polling: Promise<void>;
  #stopping = false;

  /** `invoke` returns the result of the function as a JSON text. */
  constructor(model: QueueSourceModel, messages: Messages, invoke: (event: object) => Promise<string>) {
    this.#model = model;
    this.#messages = messages;
    this.#invoke = invoke;
    this.#polling = this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#messages.wake(this.#model.queue.name);
    await this.#polling;
    await Promise.all(this.#batches);
  }

  async #poll(): Promise<void> {
    const { queue, batchSize, maxConcurrency } = this.#model;
    while (!this.#stopping) {
      const batch = this.#messages.receive(queue.name, batchSize);
      if (batch.length > 0) this.#begin(batch);
      else await this.#messages.waitForMessage(queue.name, WAIT_MILLISECONDS);
      while (this.#batches.size >= maxConcurrency) await Promise.race(this.#batches);
    }
  }

  #begin(batch: readonly ReceivedMessage[]): void {
    const done = this.#process(batch).finally(() => this.#batches.delete(done));
    this.#batches.add(done);
  }

  async #process(batch: readonly ReceivedMessage[]): Promise<void> {
    const { queue } = this.#model;
    const answer = await this.#invoke({ Records: batch.map((message) => toRecord(message, queue.arn)) }).catch(
      () => undefined,
    );
    if (answer === undefined) return;
    const failed = failedItems(
      this.#model,
      answer,
      batch.map(({ id }) => id),
    );
    this.#messages.delete(
      queue.name,
      batch.flatMap(({ id, receiptHandle }) => (failed.includes(id) ? [] : [receiptHandle])),
    );
  }
}

function toRecord(message: ReceivedMessage, queueArn: string): object {
  const { id, receiptHandle, body, attributes } = message;
  return {
    messageId: id,
    receiptHandle,
    body,
    attributes: systemAttributes(message),
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, attribute]) => [name, toEventAttribute(attribute)]),
    ),
    md5OfBody: md5(body),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: REGION,
  };
}

function toEventAttribute({ DataType, StringValue, BinaryValue }: MessageAttribute): object {
  return {
    ...(StringValue !== undefined && { stringValue: StringValue }),
    ...(BinaryValue !== undefined && { binaryValue: BinaryValue }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}
