export class NewestValues<V> {
  readonly #idOf: (value: V) => string;
  readonly #timeOf: (value: V) => number;
  readonly #entries = new Map<string, { readonly at: number; readonly value: V | undefined }>();
  readonly #touched = new Set<string>();

  constructor(idOf: (value: V) => string, timeOf: (value: V) => number) {
    this.#idOf = idOf;
    this.#timeOf = timeOf;
  }

  get all(): V[] {
    return [...this.#entries.values()].flatMap(({ value }) => (value === undefined ? [] : [value]));
  }

  get(id: string): V | undefined {
    return this.#entries.get(id)?.value;
  }

  /** Returns false unless the value is newer than what is known of its id. */
  set(value: V): boolean {
    return this.#apply(this.#idOf(value), this.#timeOf(value), value);
  }

  remove(id: string, at: number): boolean {
    return this.#apply(id, at, undefined);
  }

  #apply(id: string, at: number, value: V | undefined): boolean {
    this.#touched.add(id);
    if ((this.#entries.get(id)?.at ?? 0) >= at) return false;
    this.#entries.set(id, { at, value });
    return true;
  }

  /** Call it before the read starts: `applyRead` then keeps a value that a message changed during the read. */
  beginRead(): void {
    this.#touched.clear();
  }

  /**
   * Returns the values that are newer than the known ones. Removes each value that the answer lacks, unless a message
   * about it arrived since the read began.
   */
  applyRead(values: readonly V[]): V[] {
    const newer: V[] = [];
    for (const value of values) {
      const [id, at] = [this.#idOf(value), this.#timeOf(value)];
      const stored = this.#entries.get(id);
      // The answer of a read can contain a value with the time of its removal. Then the removal counts.
      if (stored && (stored.at > at || (stored.at === at && stored.value === undefined))) continue;
      if (stored?.at !== at) newer.push(value);
      this.#entries.set(id, { at, value });
    }
    const ids = new Set(values.map(this.#idOf));
    for (const [id, { at }] of this.#entries)
      if (!ids.has(id) && !this.#touched.has(id)) this.#entries.set(id, { at, value: undefined });
    return newer;
  }
}

export interface VersionedMessage {
  readonly version: number;
}

/**
 * Releases messages of a document channel in the order of their versions, each once. After a gap, later messages wait
 * for a read of missed ones.
 */
export class VersionOrder<M extends VersionedMessage> {
  version: number | undefined;
  readonly #waiting = new Map<number, M>();

  take(message: M): { readonly messages: readonly M[]; readonly hasGap: boolean } {
    if (this.version === undefined || message.version > this.version) this.#waiting.set(message.version, message);
    const messages = this.#release();
    return { messages, hasGap: this.#waiting.size > 0 };
  }

  /** The answer of a read has all changes up to `version`. Returns the messages that can be shown now. */
  catchUp(messages: readonly M[], version: number): readonly M[] {
    const missed = messages.filter((message) => message.version > (this.version ?? 0));
    // A pushed message can have more content than its copy from the read, for example the update of an editor.
    const best = missed.map((message) => this.#waiting.get(message.version) ?? message);
    this.version = Math.max(version, this.version ?? 0);
    return [...best, ...this.#release()];
  }

  /** Forgets the messages up to `version`. Returns the messages that can be shown now. */
  restart(version: number): readonly M[] {
    this.version = version;
    return this.#release();
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  #release(): M[] {
    const released: M[] = [];
    if (this.version === undefined) return released;
    for (const version of this.#waiting.keys()) if (version <= this.version) this.#waiting.delete(version);
    for (;;) {
      const next = this.#waiting.get(this.version + 1);
      if (!next) return released;
      this.#waiting.delete(next.version);
      this.version = next.version;
      released.push(next);
    }
  }
}
