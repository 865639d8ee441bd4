import type { LiveStateMessage, LiveStateResponse } from '../liveState/rules.ts';
import type { PresenceMessage, PresenceResponse } from '../presence/rules.ts';

/** The users who are present in a document, from messages and reads. An older message never replaces a newer one. */
export class PresenceView {
  /** The last known presence of each user. `user` is undefined after the user has left. */
  readonly #users = new Map<string, { readonly at: number; readonly user: PresenceResponse | undefined }>();
  /** The ids of users about whom a message arrived since the last read began. */
  readonly #touched = new Set<string>();

  get users(): PresenceResponse[] {
    return [...this.#users.values()]
      .flatMap(({ user }) => (user ? [user] : []))
      .sort((a, b) => (a.userId < b.userId ? -1 : 1));
  }

  /** Applies a message. Returns false if it is not newer than the last one about the user. */
  apply(message: PresenceMessage): boolean {
    const { userId, user } =
      message.type === 'presence.update'
        ? { userId: message.user.userId, user: message.user }
        : { userId: message.userId, user: undefined };
    this.#touched.add(userId);
    if ((this.#users.get(userId)?.at ?? 0) >= message.at) return false;
    this.#users.set(userId, { at: message.at, user });
    return true;
  }

  /** Must be called when a read begins. Messages that arrive after this call are newer than the read's answer. */
  beginRead(): void {
    this.#touched.clear();
  }

  /**
   * Applies the answer of a read. A user who is missing in the answer has left, unless a message about the user arrived
   * since the read began.
   */
  applyRead(present: readonly PresenceResponse[]): void {
    for (const user of present) {
      const stored = this.#users.get(user.userId);
      if (!stored || stored.at < user.changedAt || (stored.at === user.changedAt && stored.user))
        this.#users.set(user.userId, { at: user.changedAt, user });
    }
    const ids = new Set(present.map(({ userId }) => userId));
    for (const [userId, { at }] of this.#users)
      if (!ids.has(userId) && !this.#touched.has(userId)) this.#users.set(userId, { at, user: undefined });
  }
}

/** The latest live states of a document by id. An older state never replaces a newer one. */
export class LiveStateView {
  readonly #states = new Map<string, LiveStateResponse>();
  /** The ids about which a message arrived since the last read began. */
  readonly #touched = new Set<string>();

  get all(): LiveStateResponse[] {
    return [...this.#states.values()];
  }

  get(liveStateDataId: string): LiveStateResponse | undefined {
    return this.#states.get(liveStateDataId);
  }

  /** Applies a live state. Returns it, or undefined if it is not newer than the last one with its id. */
  apply({ liveStateDataId, data, at }: LiveStateMessage | LiveStateResponse): LiveStateResponse | undefined {
    this.#touched.add(liveStateDataId);
    if ((this.#states.get(liveStateDataId)?.at ?? 0) >= at) return undefined;
    const state = { liveStateDataId, data, at };
    this.#states.set(liveStateDataId, state);
    return state;
  }

  /** Must be called when a read begins. Messages that arrive after this call are newer than the read's answer. */
  beginRead(): void {
    this.#touched.clear();
  }

  /**
   * Applies the answer of a read. Returns the states that are newer than the last ones with their ids. Removes each state
   * that is missing in the answer, unless a message about it arrived since the read began.
   */
  applyRead(stored: readonly LiveStateResponse[]): LiveStateResponse[] {
    const newer = stored.flatMap((state) => this.apply(state) ?? []);
    for (const id of this.#states.keys()) if (!this.#touched.has(id)) this.#states.delete(id);
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
