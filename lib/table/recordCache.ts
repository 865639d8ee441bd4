import { BoundedMap } from '../shared/boundedMap.ts';

/** How long a record is kept in memory, in milliseconds. A revoked token stops working within this time. */
export const POSITIVE_MILLISECONDS = 10_000;
/**
 * How long memory keeps the fact that a record does not exist, in milliseconds. Also the shortest time between two reads of a
 * record because of refused credentials.
 */
const NEGATIVE_MILLISECONDS = 1_000;
const MAX_RECORDS = 1_000;

export interface CacheOptions {
  readonly now: number;
  /** If true, the record is read from the table with strong consistency, not from memory. */
  readonly fresh: boolean;
}

interface CachedRecord<T> {
  readonly record: Promise<T | undefined>;
  readonly readAt: number;
}

/** A read-through cache of records by id. When it is full, it drops the record that was read first. */
export class RecordCache<T> {
  readonly #records = new BoundedMap<string, CachedRecord<T>>(MAX_RECORDS);
  /** When an id had no record: epoch milliseconds. Its own map, so that guessed ids cannot displace records. */
  readonly #missingAt = new BoundedMap<string, number>(MAX_RECORDS);
  /** When a refused credential last caused a read of a record: epoch milliseconds, by record id. */
  readonly #rereadAt = new Map<string, number>();
  readonly #read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>;

  constructor(read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>) {
    this.#read = read;
  }

  /**
   * Returns the record if `accepts` returns true for it, otherwise undefined. A record that `accepts` refuses is read again
   * consistently, so a new token works at once. This happens at most once per second and record, so guessing tokens causes few
   * reads.
   */
  async get(id: string, { now, fresh }: CacheOptions, accepts: (record: T) => boolean): Promise<T | undefined> {
    if (fresh) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    const cached = await this.#cached(id, now);
    if (!cached || accepts(cached)) return cached;
    if (this.#mayReread(id, now)) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    // Another request may have read the record again in this second.
    return ifAccepted(await this.#records.get(id)?.record, accepts);
  }

  /** Returns the record from memory, or from the table if memory has no recent one. */
  async #cached(id: string, now: number): Promise<T | undefined> {
    const cached = this.#records.get(id);
    if (cached && cached.readAt + POSITIVE_MILLISECONDS > now) return cached.record;
    if ((this.#missingAt.get(id) ?? -Infinity) + NEGATIVE_MILLISECONDS > now) return undefined;
    return this.#readThrough(id, now, { eventual: true });
  }

  /**
   * Returns whether a refused record may be read again now. If so, records the time. The method is synchronous, so only one of
   * several simultaneous requests gets true.
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
    this.#records.set(id, cached);
    try {
      const record = await cached.record;
      if (record === undefined && this.#records.get(id) === cached) {
        this.#records.delete(id);
        this.#missingAt.set(id, now);
      }
      return record;
    } catch (error) {
      if (this.#records.get(id) === cached) this.#records.delete(id);
      throw error;
    }
  }
}

function ifAccepted<T>(record: T | undefined, accepts: (record: T) => boolean): T | undefined {
  return record !== undefined && accepts(record) ? record : undefined;
}
