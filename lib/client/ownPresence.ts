import type { PresenceResponse, PresenceStatus } from '../presence/rules.ts';

export interface OwnPresenceFields {
  readonly name?: string;
  readonly email?: string;
  /** By default the client decides: `away` after a minute without input or in a hidden tab, otherwise `online`. */
  readonly status?: PresenceStatus;
}

export interface OwnPresencePorts {
  readonly send: (fields: OwnPresenceFields & { readonly leaseSeconds: number }) => Promise<unknown>;
  readonly leave: (options?: { readonly keepalive: boolean }) => Promise<unknown>;
}

const LEASE_SECONDS = 30;
/** For a hidden page. After some minutes, browsers run the timers of a hidden page only once a minute. */
const HIDDEN_LEASE_SECONDS = 120;
const RENEW_MILLISECONDS = 10_000;
const IDLE_MILLISECONDS = 60_000;
/** The longest pause before this tab sends its presence again, if another tab of the user changed it. */
const CORRECT_MILLISECONDS = 1_000;

interface BrowserEvents {
  addEventListener(name: string, listener: () => void, options?: object): void;
  removeEventListener(name: string, listener: () => void): void;
}
interface BrowserPage extends BrowserEvents {
  readonly visibilityState?: string;
}

export class OwnPresence {
  readonly #ports: OwnPresencePorts;
  readonly #page = (globalThis as { readonly document?: BrowserPage }).document;
  readonly #window = globalThis as Partial<BrowserEvents>;
  #fields: OwnPresenceFields | undefined;
  #isConnected = false;
  /** The browser can keep a page that the user has left, and show it again. */
  #hasLeftPage = false;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #lastInput = Date.now();
  #sentStatus: PresenceStatus | undefined;
  /** The status that the service shows. All tabs of the user are one presence. */
  #shownStatus: PresenceStatus | undefined;
  #sentRenewals = 0;
  #answeredRenewal = 0;
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

  set(fields: OwnPresenceFields): void {
    this.#fields = fields;
    this.#renew();
  }

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

  /** Sends the presence again if it is missing, or if it is not `online` while this tab is. */
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

  /** Waits for the answers to all renewals: one that reached the service later would show the user again. */
  async #end(): Promise<void> {
    await this.#sending;
    if (!this.#isShown) await this.#ports.leave().catch(() => undefined);
  }

  get #isShown(): boolean {
    return this.#fields !== undefined && this.#isConnected && !this.#hasLeftPage;
  }

  get #status(): PresenceStatus {
    if (this.#fields?.status) return this.#fields.status;
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
    // A failed renewal needs no retry, because the next one comes before the lease ends.
    const leaseSeconds = this.#isHidden ? HIDDEN_LEASE_SECONDS : LEASE_SECONDS;
    const number = ++this.#sentRenewals;
    const sent = this.#ports
      .send({ ...this.#fields, status: this.#sentStatus, leaseSeconds })
      .catch(() => undefined)
      .then(() => {
        if (number < this.#answeredRenewal) this.#renew();
        else this.#answeredRenewal = number;
      });
    const earlier = this.#sending;
    this.#sending = sent.then(() => earlier);
  }

  #scheduleRenewal(): void {
    this.#renewal = setTimeout(() => {
      const isKnown = this.#sentStatus === this.#status;
      // A renewal would hide that another tab shows the user as online.
      if (isKnown && this.#status !== 'online' && this.#shownStatus === 'online') this.#scheduleRenewal();
      else this.#renew();
    }, RENEW_MILLISECONDS);
  }
}
