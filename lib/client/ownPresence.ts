import type { PresenceResponse, PresenceStatus } from '../presence/rules.ts';

/** Fields of the presence of the client's own user. */
export interface OwnPresenceFields {
  readonly name?: string;
  readonly email?: string;
  /** By default the client decides: `away` after a minute without input or in a hidden tab, otherwise `online`. */
  readonly status?: PresenceStatus;
}

export interface OwnPresencePorts {
  /** Adds the presence of the user, or renews its lease. */
  readonly send: (fields: OwnPresenceFields & { readonly leaseSeconds: number }) => Promise<unknown>;
  readonly leave: (options?: { readonly keepalive: boolean }) => Promise<unknown>;
}

const LEASE_SECONDS = 30;
/** The lease while the page is hidden. After some minutes, browsers run the timers of a hidden page only once a minute. */
const HIDDEN_LEASE_SECONDS = 120;
const RENEW_MILLISECONDS = 10_000;
/** A user without input for this long (milliseconds) is `away`. */
const IDLE_MILLISECONDS = 60_000;
/**
 * If another tab of the user changed the presence, this tab sends its own presence again within this time
 * (milliseconds).
 */
const CORRECT_MILLISECONDS = 1_000;

/** A source of events. Browsers have it, Node does not. */
interface BrowserEvents {
  addEventListener(name: string, listener: () => void, options?: object): void;
  removeEventListener(name: string, listener: () => void): void;
}
/** A browser page. Its input events and visibility show whether the user is active. */
interface BrowserPage extends BrowserEvents {
  readonly visibilityState?: string;
}

/** Shows the client's own user as present while the document is open, and renews the lease of the presence. */
export class OwnPresence {
  readonly #ports: OwnPresencePorts;
  readonly #page = (globalThis as { readonly document?: BrowserPage }).document;
  readonly #window = globalThis as Partial<BrowserEvents>;
  #fields: OwnPresenceFields | undefined;
  #isConnected = false;
  /** True after the user has left the page. The browser can keep the page and show it again. */
  #hasLeftPage = false;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #lastInput = Date.now();
  #sentStatus: PresenceStatus | undefined;
  /** The status with which the service shows the user. All tabs of the user are one presence. */
  #shownStatus: PresenceStatus | undefined;
  #sentRenewals = 0;
  #answeredRenewal = 0;
  /** Resolves when all renewals that were sent have been answered. */
  #sending: Promise<unknown> = Promise.resolve();
  readonly #onInput = () => {
    this.#lastInput = Date.now();
    if (this.#fields && this.#sentStatus !== this.#status) this.#renew();
  };
  readonly #onPageHide = () => {
    const wasShown = this.#isShown;
    this.#hasLeftPage = true;
    clearTimeout(this.#renewal);
    if (wasShown) void this.#ports.leave({ keepalive: true }).catch(() => undefined);
  };
  readonly #onPageShow = () => {
    this.#hasLeftPage = false;
    this.#renew();
  };

  constructor(ports: OwnPresencePorts) {
    this.#ports = ports;
    for (const name of ['pointerdown', 'pointermove', 'keydown', 'visibilitychange'])
      this.#page?.addEventListener(name, this.#onInput, { passive: true });
    this.#window.addEventListener?.('pagehide', this.#onPageHide);
    this.#window.addEventListener?.('pageshow', this.#onPageShow);
  }

  /** Shows the user as present from now on. */
  set(fields: OwnPresenceFields): void {
    this.#fields = fields;
    this.#renew();
  }

  /** Stops showing the user. Another open tab of the user sends its presence again, so the user stays visible. */
  async leave(): Promise<void> {
    const wasShown = this.#isShown;
    this.#fields = undefined;
    clearTimeout(this.#renewal);
    if (wasShown) await this.#end();
  }

  setConnected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    if (isConnected) this.#renew();
    else clearTimeout(this.#renewal);
  }

  /** Sends the presence again if another tab of the user has ended it, or has set `away` while this tab is `online`. */
  correct(presence: PresenceResponse | undefined): void {
    this.#shownStatus = presence?.status;
    if (!this.#isShown) return;
    const isWrong = !presence || (presence.status !== this.#status && this.#status === 'online');
    if (!isWrong) return;
    clearTimeout(this.#renewal);
    this.#renewal = setTimeout(() => this.#renew(), Math.random() * CORRECT_MILLISECONDS);
  }

  close(): void {
    clearTimeout(this.#renewal);
    for (const name of ['pointerdown', 'pointermove', 'keydown', 'visibilitychange'])
      this.#page?.removeEventListener(name, this.#onInput);
    this.#window.removeEventListener?.('pagehide', this.#onPageHide);
    this.#window.removeEventListener?.('pageshow', this.#onPageShow);
  }

  /**
   * Ends the presence after the answers to all renewals. A renewal that reached the service later would show the user
   * again. Does nothing if the user was shown again meanwhile.
   */
  async #end(): Promise<void> {
    await this.#sending;
    if (!this.#isShown) await this.#ports.leave().catch(() => undefined);
  }

  /** Whether this tab sends the presence of the user. */
  get #isShown(): boolean {
    return this.#fields !== undefined && this.#isConnected && !this.#hasLeftPage;
  }

  get #status(): PresenceStatus {
    if (this.#fields?.status) return this.#fields.status;
    // Without a page, for example on a server, there is no input to observe.
    if (!this.#page) return 'online';
    const isIdle = Date.now() - this.#lastInput > IDLE_MILLISECONDS;
    return isIdle || this.#isHidden ? 'away' : 'online';
  }

  get #isHidden(): boolean {
    return this.#page?.visibilityState === 'hidden';
  }

  #renew(): void {
    clearTimeout(this.#renewal);
    if (!this.#isShown) return;
    this.#scheduleRenewal();
    this.#sentStatus = this.#status;
    // A failed renewal needs no retry, because the next renewal comes before the lease ends.
    const leaseSeconds = this.#isHidden ? HIDDEN_LEASE_SECONDS : LEASE_SECONDS;
    const number = ++this.#sentRenewals;
    const sent = this.#ports
      .send({ ...this.#fields, status: this.#sentStatus, leaseSeconds })
      .catch(() => undefined)
      .then(() => {
        // A repeated renewal can arrive after a newer one.
        if (number < this.#answeredRenewal) this.#renew();
        else this.#answeredRenewal = number;
      });
    const earlier = this.#sending;
    this.#sending = sent.then(() => earlier);
  }

  #scheduleRenewal(): void {
    this.#renewal = setTimeout(() => {
      const isKnown = this.#sentStatus === this.#status;
      // Another tab shows the user as online, and renews the lease. A renewal of this tab would hide that.
      if (isKnown && this.#status !== 'online' && this.#shownStatus === 'online') this.#scheduleRenewal();
      else this.#renew();
    }, RENEW_MILLISECONDS);
  }
}
