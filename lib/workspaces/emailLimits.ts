import { type Capability, combine } from '../app/capability.ts';
import { type RateLimits, rateLimits } from '../table/rateLimits.ts';
import { emailKey } from './rules/workspaces.ts';

interface Window {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The rate limits of a public endpoint whose input is an e-mail address. Each endpoint has its own counters. */
export class EmailLimits {
  readonly #limits: RateLimits;
  readonly #name: string;
  readonly #perSource: Window;
  readonly #perEmail: Window;

  constructor(limits: RateLimits, name: string, perSource: Window, perEmail: Window) {
    this.#limits = limits;
    this.#name = name;
    this.#perSource = perSource;
    this.#perEmail = perEmail;
  }

  /**
   * Counts a call. Returns whether it is within the limit of its IP address and within the limit of its e-mail address. A call
   * beyond the limit of its IP address does not count for the e-mail address.
   */
  async allow({ sourceIp, email, now }: { sourceIp: string; email: string; now: number }): Promise<boolean> {
    return (
      (await this.#limits.allow(`${this.#name} by source`, sourceIp, { ...this.#perSource, now })) &&
      (await this.#limits.allow(`${this.#name} by e-mail`, emailKey(email), { ...this.#perEmail, now }))
    );
  }

  /** Takes back the count of a call for its e-mail address. `now` is the time at which the call was counted. */
  async giveBack({ email, now }: { email: string; now: number }): Promise<void> {
    await this.#limits.giveBack(`${this.#name} by e-mail`, emailKey(email), { ...this.#perEmail, now });
  }
}

const perMinute = (limit: string): Window => ({ limit: Number(limit), windowSeconds: 60 });
const perHour = (limit: string): Window => ({ limit: Number(limit), windowSeconds: 3_600 });

export const emailStatusLimits: Capability<EmailLimits> = /* @__PURE__ */ combine(
  { rateLimits },
  (parts, env) =>
    new EmailLimits(
      parts.rateLimits,
      'workspace/email/status',
      perMinute(env.EMAIL_STATUS_PER_MINUTE_PER_ADDRESS),
      perMinute(env.EMAIL_STATUS_PER_MINUTE_PER_EMAIL),
    ),
  ['EMAIL_STATUS_PER_MINUTE_PER_ADDRESS', 'EMAIL_STATUS_PER_MINUTE_PER_EMAIL'],
);

/** The limits of requests for login links. Each e-mail address has a limit per hour, because everybody can request mails to it. */
export const loginLinkLimits: Capability<EmailLimits> = /* @__PURE__ */ combine(
  { rateLimits },
  (parts, env) =>
    new EmailLimits(
      parts.rateLimits,
      'workspace/email/send-login-link',
      perMinute(env.EMAIL_STATUS_PER_MINUTE_PER_ADDRESS),
      perHour(env.LOGIN_LINKS_PER_HOUR_PER_EMAIL),
    ),
  ['EMAIL_STATUS_PER_MINUTE_PER_ADDRESS', 'LOGIN_LINKS_PER_HOUR_PER_EMAIL'],
);
