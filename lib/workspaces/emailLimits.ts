import { type Capability, combine } from '../app/capability.ts';
import { type RateLimits, rateLimits } from '../table/rateLimits.ts';
import { emailKey } from './rules/workspaces.ts';

interface Window {
  readonly limit: number;
  readonly windowSeconds: number;
}

/**
 * Limits the calls of a public endpoint by source address and by e-mail address. Each endpoint has its own counters.
 */
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
   * Returns whether a call is within the limits of its source address and its e-mail address. A call above the first
   * limit does not count for the e-mail address.
   */
  async allow({ sourceIp, email, now }: { sourceIp: string; email: string; now: number }): Promise<boolean> {
    return (
      (await this.#limits.allow(`${this.#name} by source`, sourceIp, { ...this.#perSource, now })) &&
      (await this.#limits.allow(`${this.#name} by e-mail`, emailKey(email), { ...this.#perEmail, now }))
    );
  }

  /** `now` is the time at which the call was counted. */
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

/** Everybody can request links for any e-mail address, so the limit of each e-mail address is per hour. */
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
