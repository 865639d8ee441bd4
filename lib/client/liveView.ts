/** Values by id, from messages and reads. An older value never replaces a newer one. */
export class NewestValues<V> {
  readonly #idOf: (value: V) => string;
  readonly #timeOf: (value: V) => number;
  /** The last known value of each id. `value` is undefined after the value was removed. */
  readonly #entries = new Map<string, { readonly at: number; readonly value: V | undefined }>();
  /** The ids about which a message arrived since the last read began. */
  readonly #touched = new Set<string>();

  /** `timeOf` returns the time of the last change of a value. It grows with each change. */
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

  /** Applies the value of a message. Returns false if it is not newer than the last message about its id. */
  set(value: V): boolean {
    return this.#apply(this.#idOf(value), this.#timeOf(value), value);
  }

  /** Applies a message that a value was removed. Returns false if it is not newer than the last message about the id. */
  remove(id: string, at: number): boolean {
    return this.#apply(id, at, undefined);
  }

  #apply(id: string, at: number, value: V | undefined): boolean {
    this.#touched.add(id);
    if ((this.#entries.get(id)?.at ?? 0) >= at) return false;
    this.#entries.set(id, { at, value });
    return true;
  }

  /** Must be called when a read begins. Messages that arrive after this call are newer than the read's answer. */
  beginRead(): void {
    this.#touched.clear();
  }

  /**
   * Applies the answer of a read. Returns the values that are newer than the last ones with their ids. Removes each value
   * that is missing in the answer, unless a message about it arrived since the read began.
   */
  applyRead(values: readonly V[]): V[] {
    const newer: V[] = [];
    for (const value of values) {
      const [id, at] = [this.#idOf(value), this.#timeOf(value)];
      const stored = this.#entries.get(id);
      // At the same time as a removal, the removal counts. A read can have a renewed lease with the same time.
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

/**
 * A hint with its version in the document channel. A later read of missed changes returns the same hint with the same
 * version.
 */
export interface VersionedMessage {
  readonly version: number;
}

/**
 * Releases the messages of a document channel in the order of their versions, each once. After a gap, later messages
 * wait until a catch-up (a read of missed messages) has filled it.
 */
export class VersionOrder<M extends VersionedMessage> {
  /** The version of the last released message. Undefined before the first read. */
  version: number | undefined;
  readonly #waiting = new Map<number, M>();

  /**
   * Adds a pushed message. Returns the messages that can be shown now. `hasGap` is true if messages before a waiting
   * message are missing.
   */
  take(message: M): { readonly messages: readonly M[]; readonly hasGap: boolean } {
    if (this.version === undefined || message.version > this.version) this.#waiting.set(message.version, message);
    const messages = this.#release();
    return { messages, hasGap: this.#waiting.size > 0 };
  }

  /** Adds the messages of a catch-up, which include all changes up to `version`. Returns the messages that can be shown now. */
  catchUp(messages: readonly M[], version: number): readonly M[] {
    const missed = messages.filter((message) => message.version > (this.version ?? 0));
    // A pushed message replaces its copy from the read, because it can have more content, for example the update of an
    // editor.
    const best = missed.map((message) => this.#waiting.get(message.version) ?? message);
    this.version = Math.max(version, this.version ?? 0);
    return [...best, ...this.#release()];
  }

  /**
   * Continues after `version`. Drops waiting messages up to this version, and returns the messages that can be shown
   * now.
   */
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
