/** How long a record is kept in memory. A revoked token stops working within this time. */
export const POSITIVE_MILLISECONDS = 10_000;
/** How long a missing record is kept in memory. Also the shortest time between two repeated reads of the same record. */
const NEGATIVE_MILLISECONDS = 1_000;
const MAX_RECORDS = 1_000;

export interface CacheOptions {
  readonly now: number;
  /** Whether the record is read consistently from the table instead of from memory. */
  readonly fresh: boolean;
}

interface CachedRecord<T> {
  readonly record: Promise<T | undefined>;
  readonly readAt: number;
}

/** A read-through cache of records by id. It drops the oldest record when it is full. */
export class RecordCache<T> {
  readonly #records = new Map<string, CachedRecord<T>>();
  /** The time of the last read that a refused credential caused, by record id. Epoch milliseconds. */
  readonly #rereadAt = new Map<string, number>();
  readonly #read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>;

  constructor(read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>) {
    this.#read = read;
  }

  /**
   * Returns the record if `accepts` returns true for it. A refused record is read again consistently, so a new token
   * works at once. Each process reads a record again at most once per second, so guessing tokens causes few reads.
   */
  async get(id: string, { now, fresh }: CacheOptions, accepts: (record: T) => boolean): Promise<T | undefined> {
    if (fresh) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    const cached = await this.#cached(id, now);
    if (!cached || accepts(cached)) return cached;
    if (this.#mayReread(id, now)) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    // Another request may have started to read the record again in this second.
    return ifAccepted(await this.#records.get(id)?.record, accepts);
  }

  /** Returns the record from memory, or else from the table. */
  async #cached(id: string, now: number): Promise<T | undefined> {
    const cached = this.#records.get(id);
    if (cached && cached.readAt + POSITIVE_MILLISECONDS > now) {
      const record = await cached.record;
      if (record || cached.readAt + NEGATIVE_MILLISECONDS > now) return record;
    }
    return this.#readThrough(id, now, { eventual: true });
  }

  /**
   * Returns whether a refused record may be read again now, and notes the read. This method is synchronous, so
   * simultaneous requests cannot all get true.
   */
  #mayReread(id: string, now: number): boolean {
    if ((this.#rereadAt.get(id) ?? -Infinity) + NEGATIVE_MILLISECONDS > now) return false;
    if (this.#rereadAt.size >= MAX_RECORDS)
      for (const [other, readAt] of this.#rereadAt)
        if (readAt + NEGATIVE_MILLISECONDS <= now) this.#rereadAt.delete(other);
    if (this.#rereadAt.size >= MAX_RECORDS) return false;
    this.#rereadAt.set(id, now);
    return true;
  }

  async #readThrough(id: string, now: number, options: { eventual: boolean }): Promise<T | undefined> {
    const cached = { record: this.#read(id, options), readAt: now };
    this.#records.delete(id);
    this.#records.set(id, cached);
    if (this.#records.size > MAX_RECORDS)
      for (const oldest of this.#records.keys()) {
        this.#records.delete(oldest);
        break;
      }
    try {
      return await cached.record;
    } catch (error) {
      if (this.#records.get(id) === cached) this.#records.delete(id);
      throw error;
    }
  }
}

function ifAccepted<T>(record: T | undefined, accepts: (record: T) => boolean): T | undefined {
  return record !== undefined && accepts(record) ? record : undefined;
}
