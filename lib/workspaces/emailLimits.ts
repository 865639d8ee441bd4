import { building, type Capability } from '../app/capability.ts';
import { emailKey } from './rules/workspaces.ts';
import { type RateLimits, rateLimits } from '../table/rateLimits.ts';

interface Window {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The limits of one public call about an e-mail address. Each call has counters of its own: none slows another. */
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
   * Counts a call, and says whether it may be made: by this source address, and about this e-mail address. Calls that one
   * source makes too many do not count against the e-mail address, whose owner cannot help them.
   */
  async allow({ sourceIp, email, now }: { sourceIp: string; email: string; now: number }): Promise<boolean> {
    return (
      (await this.#limits.allow(`${this.#name} by source`, sourceIp, { ...this.#perSource, now })) &&
      (await this.#limits.allow(`${this.#name} by e-mail`, emailKey(email), { ...this.#perEmail, now }))
    );
  }
}

const perMinute = (limit: string): Window => ({ limit: Number(limit), windowSeconds: 60 });
const perHour = (limit: string): Window => ({ limit: Number(limit), windowSeconds: 3_600 });

export const emailStatusLimits: Capability<EmailLimits> = /* @__PURE__ */ building([rateLimits], {
  grants: [],
  env: ['EMAIL_STATUS_PER_MINUTE_PER_ADDRESS', 'EMAIL_STATUS_PER_MINUTE_PER_EMAIL'],
  open: (env) =>
    new EmailLimits(
      rateLimits.open(env),
      'workspace/email/status',
      perMinute(env.EMAIL_STATUS_PER_MINUTE_PER_ADDRESS),
      perMinute(env.EMAIL_STATUS_PER_MINUTE_PER_EMAIL),
    ),
});

/** Per hour and e-mail address, because each of these calls can put a mail into the box of somebody who did not ask for it. */
export const loginLinkLimits: Capability<EmailLimits> = /* @__PURE__ */ building([rateLimits], {
  grants: [],
  env: ['EMAIL_STATUS_PER_MINUTE_PER_ADDRESS', 'LOGIN_LINKS_PER_HOUR_PER_EMAIL'],
  open: (env) =>
    new EmailLimits(
      rateLimits.open(env),
      'workspace/email/send-login-link',
      perMinute(env.EMAIL_STATUS_PER_MINUTE_PER_ADDRESS),
      perHour(env.LOGIN_LINKS_PER_HOUR_PER_EMAIL),
    ),
});
