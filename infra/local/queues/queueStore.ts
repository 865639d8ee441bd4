import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { QueueModel } from '../assembly/eventSourceModels.ts';
import type { QueueLevel } from '../metrics/measurements.ts';
import { inTransaction } from './database.ts';

export interface NewMessage {
  readonly body: string;
  readonly attributes?: Readonly<Record<string, MessageAttribute>> | undefined;
  readonly groupId?: string | undefined;
  /** The default is the delay of the queue. */
  readonly delaySeconds?: number | undefined;
}

export interface MessageAttribute {
  readonly DataType: string;
  readonly StringValue?: string;
  /** In base64. */
  readonly BinaryValue?: string;
}

export interface ReceivedMessage {
  readonly id: string;
  /** Receiving the message again gives another handle. */
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, MessageAttribute>>;
  readonly groupId: string | undefined;
  readonly sentAt: number;
  readonly receiveCount: number;
  readonly firstReceivedAt: number;
}

export interface MessageCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

interface Row {
  readonly id: string;
  readonly body: string;
  readonly attributes: string;
  readonly groupId: string | null;
  readonly sentAt: number;
  readonly receives: number;
  readonly firstReceivedAt: number | null;
}

/**
 * A message is visible if `visible_at` is in the past. Otherwise it is in flight if it was received, and delayed if
 * not.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS messages (
  id TEXT PRIMARY KEY,
  queue TEXT NOT NULL,
  body TEXT NOT NULL,
  attributes TEXT NOT NULL,
  group_id TEXT,
  sent_at INTEGER NOT NULL,
  visible_at INTEGER NOT NULL,
  receives INTEGER NOT NULL DEFAULT 0,
  first_received_at INTEGER
);
CREATE INDEX IF NOT EXISTS by_time ON messages (queue, visible_at, group_id);
CREATE INDEX IF NOT EXISTS received ON messages (queue, group_id, visible_at) WHERE receives > 0;
`;

const COLUMNS =
  'id, body, attributes, group_id AS groupId, sent_at AS sentAt, receives, first_received_at AS firstReceivedAt';

const STATEMENTS = {
  insert:
    'INSERT INTO messages (id, queue, body, attributes, group_id, sent_at, visible_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  quiet: `SELECT ${COLUMNS} FROM messages
    WHERE queue = ? AND visible_at <= ? AND (group_id IS NULL OR group_id NOT IN (SELECT value FROM json_each(?))) ORDER BY visible_at LIMIT ?`,
  ofGroup: `SELECT ${COLUMNS} FROM messages WHERE queue = ? AND visible_at <= ? AND group_id = ? ORDER BY visible_at LIMIT ?`,
  inFlight:
    'SELECT group_id AS groupId, COUNT(*) AS count FROM messages WHERE queue = ? AND receives > 0 AND visible_at > ? GROUP BY group_id ORDER BY count',
  received: 'UPDATE messages SET visible_at = ?, receives = receives + 1, first_received_at = ? WHERE id = ?',
  move: 'UPDATE messages SET queue = ?, visible_at = ? WHERE id = ?',
  expire: 'DELETE FROM messages WHERE id = ?',
  delete: 'DELETE FROM messages WHERE queue = ? AND id = ? AND receives = ?',
  next: 'SELECT MIN(visible_at) AS at FROM messages WHERE queue = ?',
  counts: `SELECT SUM(visible_at <= :now) AS visible, SUM(visible_at > :now AND receives > 0) AS inFlight, SUM(visible_at > :now AND receives = 0) AS delayed
    FROM messages WHERE queue = :queue`,
  levels: `SELECT queue, SUM(visible_at <= :now) AS visible, SUM(visible_at > :now AND receives > 0) AS inFlight,
    MIN(CASE WHEN visible_at <= :now OR receives > 0 THEN sent_at END) AS oldest FROM messages GROUP BY queue`,
  release: 'UPDATE messages SET visible_at = :now WHERE receives > 0 AND visible_at > :now',
} as const;

/**
 * SQS postpones a message group that has at least `NOISY_IN_FLIGHT` messages in flight and more than the share
 * `NOISY_SHARE` of the queue's.
 */
const NOISY_IN_FLIGHT = 30;
const NOISY_SHARE = 0.1;

/**
 * The queues of the template, with the guarantees of SQS standard queues. As in fair queues, messages of a group with
 * many messages in flight wait behind those of other groups.
 */
export class QueueStore {
  readonly #database: DatabaseSync;
  readonly #queues: ReadonlyMap<string, QueueModel>;
  readonly #clock: () => number;
  readonly #run: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>;
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Makes messages in flight visible again, because their consumers ended with the earlier run. */
  constructor(database: DatabaseSync, queues: readonly QueueModel[], clock: () => number = Date.now) {
    database.exec(SCHEMA);
    this.#database = database;
    this.#queues = new Map(queues.map((queue) => [queue.name, queue]));
    this.#clock = clock;
    this.#run = Object.fromEntries(
      Object.entries(STATEMENTS).map(([name, sql]) => [name, database.prepare(sql)]),
    ) as Record<keyof typeof STATEMENTS, StatementSync>;
    this.#run.release.run({ now: clock() });
  }

  queue(name: string): QueueModel | undefined {
    return this.#queues.get(name);
  }

  existingQueue(name: string): QueueModel {
    const queue = this.#queues.get(name);
    if (!queue) throw new Error(`There is no queue ${name}`);
    return queue;
  }

  send(name: string, messages: readonly NewMessage[]): string[] {
    const { delaySeconds: usualDelay } = this.existingQueue(name);
    const now = this.#clock();
    const ids = inTransaction(this.#database, () =>
      messages.map(({ body, attributes = {}, groupId = null, delaySeconds = usualDelay }) => {
        const id = randomUUID();
        this.#run.insert.run(id, name, body, JSON.stringify(attributes), groupId, now, now + delaySeconds * 1000);
        return id;
      }),
    );
    this.wake(name);
    return ids;
  }

  /**
   * Hides the messages that it returns for `visibilitySeconds`, by default the visibility timeout. Deletes messages
   * after their retention, and moves those that were received too often to the dead-letter queue.
   */
  receive(
    name: string,
    most: number,
    visibilitySeconds = this.existingQueue(name).visibilitySeconds,
  ): ReceivedMessage[] {
    const { deadLetters, retentionSeconds } = this.existingQueue(name);
    const now = this.#clock();
    return inTransaction(this.#database, () =>
      this.#visible(name, most, now).flatMap((row) => {
        if (row.sentAt + retentionSeconds * 1000 <= now) {
          this.#run.expire.run(row.id);
        } else if (deadLetters && row.receives >= deadLetters.maxReceiveCount) {
          this.#run.move.run(deadLetters.queue, now, row.id);
          this.wake(deadLetters.queue);
        } else {
          this.#run.received.run(now + visibilitySeconds * 1000, row.firstReceivedAt ?? now, row.id);
          return [toReceived(row, now)];
        }
        return [];
      }),
    );
  }

  /** Ignores the handle of a message that was received again later. */
  delete(name: string, receiptHandles: readonly string[]): void {
    inTransaction(this.#database, () =>
      receiptHandles.forEach((handle) => this.#run.delete.run(name, ...receipt(handle))),
    );
  }

  counts(name: string): MessageCounts {
    const { visible, inFlight, delayed } = this.#run.counts.get({
      now: this.#clock(),
      queue: name,
    }) as unknown as Record<keyof MessageCounts, number | null>;
    return { visible: visible ?? 0, inFlight: inFlight ?? 0, delayed: delayed ?? 0 };
  }

  levels(): Map<string, QueueLevel> {
    const now = this.#clock();
    const levels = new Map<string, QueueLevel>(
      [...this.#queues.keys()].map((name) => [name, { visible: 0, inFlight: 0, oldestSeconds: 0 }]),
    );
    const rows = this.#run.levels.all({ now }) as unknown as {
      queue: string;
      visible: number;
      inFlight: number;
      oldest: number | null;
    }[];
    for (const { queue, visible, inFlight, oldest } of rows) {
      // The database can contain queues of earlier templates.
      if (levels.has(queue))
        levels.set(queue, { visible, inFlight, oldestSeconds: oldest === null ? 0 : (now - oldest) / 1000 });
    }
    return levels;
  }

  /** Resolves when there may be a message, at the latest after `milliseconds`. */
  waitForMessage(name: string, milliseconds: number): Promise<void> {
    const { at } = this.#run.next.get(name) as unknown as { at: number | null };
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting);
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, Math.min(milliseconds, (at ?? Infinity) - this.#clock())));
      waiting.add(wake);
    });
  }

  wake(name: string): void {
    for (const wake of this.#waiting.get(name) ?? []) wake();
  }

  #visible(name: string, most: number, now: number): Row[] {
    const noisy = this.#noisyGroups(name, now);
    const rows = this.#run.quiet.all(name, now, JSON.stringify(noisy), most) as unknown as Row[];
    for (const group of noisy) {
      if (rows.length === most) break;
      rows.push(...(this.#run.ofGroup.all(name, now, group, most - rows.length) as unknown as Row[]));
    }
    return rows;
  }

  /** Returns the groups that SQS postpones. Those with fewer messages in flight come first. */
  #noisyGroups(name: string, now: number): string[] {
    const groups = this.#run.inFlight.all(name, now) as unknown as { groupId: string | null; count: number }[];
    const all = groups.reduce((sum, { count }) => sum + count, 0);
    return groups.flatMap(({ groupId, count }) =>
      groupId !== null && count >= NOISY_IN_FLIGHT && count > all * NOISY_SHARE ? [groupId] : [],
    );
  }
}

function toReceived(
  { id, body, attributes, groupId, sentAt, receives, firstReceivedAt }: Row,
  now: number,
): ReceivedMessage {
  const receiveCount = receives + 1;
  return {
    id,
    receiptHandle: `${id}:${receiveCount}`,
    body,
    attributes: JSON.parse(attributes) as ReceivedMessage['attributes'],
    groupId: groupId ?? undefined,
    sentAt,
    receiveCount,
    firstReceivedAt: firstReceivedAt ?? now,
  };
}

function receipt(handle: string): [id: string, receives: number] {
  const [id = '', receives] = handle.split(':');
  return [id, Number(receives) || 0];
}
