export interface ModelWindow {
  readonly seconds: number;
  readonly max?: number | undefined;
}

export interface ModelSettings {
  readonly delay?: number | undefined;
  readonly document?: ModelWindow | undefined;
  readonly user?: ModelWindow | undefined;
}

/** An activity that waits for one user. Times are epoch ms. */
export interface ModelEntry {
  readonly userId: string;
  readonly token: string;
  readonly document: string;
  readonly at: number;
  readonly joinsAt: number;
  readonly settings: ModelSettings;
  hasJoined: boolean;
}

export interface ModelMail {
  readonly userId: string;
  readonly tokens: readonly string[];
  readonly at: number;
}

interface OpenWindow {
  readonly closesAt: number;
  readonly max: number;
}

/** What must be mailed and when, in the words of the guide. `isSuppressed` says what is not sent at a time. */
export class MailModel {
  readonly mails: ModelMail[] = [];
  waiting: ModelEntry[] = [];
  /** How many entries ended without joining a window. */
  dropped = 0;
  /** By user, and by user and document. */
  readonly #windows = new Map<string, OpenWindow>();
  readonly #isSuppressed: (entry: Pick<ModelEntry, 'userId' | 'token'>) => boolean;

  constructor(isSuppressed: (entry: Pick<ModelEntry, 'userId' | 'token'>) => boolean) {
    this.#isSuppressed = isSuppressed;
  }

  add(
    activity: { readonly token: string; readonly document: string; readonly at: number },
    userIds: readonly string[],
    settings: ModelSettings,
  ): void {
    const isSentAtOnce = !settings.delay && !settings.document && !settings.user;
    for (const userId of userIds) {
      if (isSentAtOnce) this.mails.push({ userId, tokens: [activity.token], at: activity.at });
      else {
        const joinsAt = activity.at + (settings.delay ?? 0) * 1_000;
        this.waiting.push({ ...activity, userId, joinsAt, settings, hasJoined: false });
      }
    }
  }

  /** Infinity if nothing waits for the user. */
  nextTime(userId: string): number {
    const joining = this.waiting.filter((entry) => entry.userId === userId && !entry.hasJoined);
    const closing = [...this.#windows].flatMap(([key, { closesAt }]) => (isOf(key, userId) ? [closesAt] : []));
    return Math.min(...joining.map(({ joinsAt }) => joinsAt), ...closing);
  }

  advance(until: number): void {
    for (const userId of new Set(this.waiting.map((entry) => entry.userId)))
      for (let now = this.nextTime(userId); now <= until; now = this.nextTime(userId)) this.#advanceUser(userId, now);
  }

  #advanceUser(userId: string, now: number): void {
    for (const entry of this.#of(userId).filter(({ hasJoined, joinsAt }) => !hasJoined && joinsAt <= now)) {
      if (entry.settings.delay && this.#isSuppressed(entry)) {
        this.#take([entry]);
        this.dropped++;
      } else this.#join(entry);
    }
    const joined = this.#of(userId).filter(({ hasJoined }) => hasJoined);
    for (const entry of joined.filter(({ settings }) => !settings.document && !settings.user)) this.#mail([entry], now);
    const collected = () => this.#of(userId).filter(({ hasJoined }) => hasJoined);
    const isClosed = (key: string, entries: readonly ModelEntry[]) => {
      const window = this.#windows.get(key);
      return window && (window.closesAt <= now || entries.length >= window.max);
    };
    if (isClosed(userKey(userId), collected())) this.#mail(collected(), now);
    for (const document of new Set(collected().map((entry) => entry.document))) {
      const entries = collected().filter((entry) => entry.document === document);
      if (isClosed(documentKey(userId, document), entries)) this.#mail(entries, now);
    }
    const rest = collected();
    const keys = new Set(rest.flatMap(({ document }) => [userKey(userId), documentKey(userId, document)]));
    for (const key of this.#windows.keys()) if (isOf(key, userId) && !keys.has(key)) this.#windows.delete(key);
  }

  #join(entry: ModelEntry): void {
    entry.hasJoined = true;
    const { userId, document, joinsAt, settings } = entry;
    const open = (key: string, window: ModelWindow | undefined) => {
      if (window && !this.#windows.has(key))
        this.#windows.set(key, { closesAt: joinsAt + window.seconds * 1_000, max: window.max ?? 50 });
    };
    open(documentKey(userId, document), settings.document);
    open(userKey(userId), settings.user);
  }

  #of(userId: string): ModelEntry[] {
    return this.waiting.filter((entry) => entry.userId === userId);
  }

  #take(entries: readonly ModelEntry[]): void {
    this.waiting = this.waiting.filter((entry) => !entries.includes(entry));
  }

  #mail(entries: readonly ModelEntry[], at: number): void {
    this.#take(entries);
    const tokens = entries.filter((entry) => !this.#isSuppressed(entry)).map(({ token }) => token);
    const [first] = entries;
    if (first && tokens.length > 0) this.mails.push({ userId: first.userId, tokens, at });
  }
}

const userKey = (userId: string) => `${userId} `;
const documentKey = (userId: string, document: string) => `${userId} ${document}`;
const isOf = (key: string, userId: string) => key.startsWith(`${userId} `);
