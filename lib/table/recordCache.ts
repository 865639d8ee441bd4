import { BoundedMap } from '../shared/boundedMap.ts';

/** Memory keeps a record for this time, in which a revoked token can still work. */
export const POSITIVE_MILLISECONDS = 10_000;
/** Memory keeps for this time that a record is missing, and rereads a refused record at most once in this time. */
const NEGATIVE_MILLISECONDS = 1_000;
const MAX_RECORDS = 1_000;

export interface CacheOptions {
  readonly now: number;
  readonly fresh: boolean;
}

interface CachedRecord<T> {
  readonly record: Promise<T | undefined>;
  readonly readAt: number;
}

export class RecordCache<T> {
  readonly #records = new BoundedMap<string, CachedRecord<T>>(MAX_RECORDS);
  /** A separate map, so that guessed ids do not stay in the place of records. */
  readonly #missingAt = new BoundedMap<string, number>(MAX_RECORDS);
  readonly #rereadAt = new Map<string, number>();
  readonly #read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>;

  constructor(read: (id: string, options: { eventual: boolean }) => Promise<T | undefined>) {
    this.#read = read;
  }

  /**
   * Returns the record if `accepts` returns true for it. A refused record is read again consistently, so that a new
   * token works, but at most once per second, so guessing tokens causes few reads.
   */
  async get(id: string, { now, fresh }: CacheOptions, accepts: (record: T) => boolean): Promise<T | undefined> {
    if (fresh) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    const cached = await this.#cached(id, now);
    if (!cached || accepts(cached)) return cached;
    if (this.#mayReread(id, now)) return ifAccepted(await this.#readThrough(id, now, { eventual: false }), accepts);
    return ifAccepted(await this.#records.get(id)?.record, accepts);
  }

  async #cached(id: string, now: number): Promise<T | undefined> {
    const cached = this.#records.get(id);
    if (cached && cached.readAt + POSITIVE_MILLISECONDS > now) return cached.record;
    if ((this.#missingAt.get(id) ?? -Infinity) + NEGATIVE_MILLISECONDS > now) return undefined;
    return this.#readThrough(id, now, { eventual: true });
  }

  /** Synchronous, so only one of several simultaneous requests gets true. */
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
