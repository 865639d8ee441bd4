import type { DeliveryMessage } from '../../../lib/webhooks/deliveryMessage.ts';
import type { QueueMessage, QueueSender } from '../../../lib/workers/sender.ts';

/** An in-memory FIFO queue. It processes at most `width` messages concurrently and retries a failed message at once. */
export class BenchQueue implements QueueSender {
  /** The number of SendMessageBatch calls. */
  batches = 0;
  failures = 0;
  #running = 0;
  #delayed = 0;
  readonly #ready: DeliveryMessage[] = [];
  readonly #width: number;
  readonly #work: (message: DeliveryMessage) => Promise<void>;

  constructor(width: number, work: (message: DeliveryMessage) => Promise<void>) {
    this.#width = width;
    this.#work = work;
  }

  /** The number of messages that wait or are processed, without delayed messages. */
  get busy(): number {
    return this.#ready.length + this.#running;
  }

  get waiting(): number {
    return this.busy + this.#delayed;
  }

  async send(messages: readonly QueueMessage[]): Promise<void> {
    this.batches += Math.ceil(messages.length / 10);
    for (const { body, delaySeconds = 0 } of messages) {
      if (delaySeconds === 0) this.#ready.push(body as DeliveryMessage);
      else {
        this.#delayed++;
        setTimeout(() => {
          this.#delayed--;
          this.#ready.push(body as DeliveryMessage);
          this.#pump();
        }, delaySeconds * 1000);
      }
    }
    this.#pump();
  }

  #pump(): void {
    while (this.#running < this.#width && this.#ready.length > 0) {
      const message = this.#ready.shift()!;
      this.#running++;
      this.#work(message)
        .catch(() => {
          this.failures++;
          this.#ready.push(message);
        })
        .finally(() => {
          this.#running--;
          this.#pump();
        });
    }
  }
}

/** Polls until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>, everyMilliseconds = 20): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, everyMilliseconds));
}
