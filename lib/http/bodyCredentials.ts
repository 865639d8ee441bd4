import { combine } from '../app/capability.ts';
import type { ApiKeyCaller } from '../app/endpoint.ts';
import type { Log } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import { ApiError } from '../shared/errors.ts';
import { failureLimits } from '../table/rateLimits.ts';
import { credentials } from './credentials.ts';
import { tooManyCalls } from './middlewares.ts';
import { rateBuckets } from './rateBuckets.ts';

const FAILURES = { limit: 100, windowSeconds: 60 };
const FAILURES_NAME = 'wrong credentials by source';

export interface BodyCredentialsCall {
  readonly apiKey: string;
  readonly authToken: string;
  readonly sourceIp: string;
  readonly now: number;
  readonly log: Log;
}

/**
 * Counts wrong credentials for the source address only: API keys are no secret, so anybody could use up a key's limit.
 * Throws RESOURCE_EXHAUSTED with `retry-after`, and the error of `Credentials`.
 */
export type VerifyBodyCredentials = (call: BodyCredentialsCall) => Promise<ApiKeyCaller>;

export const verifyBodyCredentials = /* @__PURE__ */ combine(
  { credentials, buckets: rateBuckets, failures: failureLimits },
  ({ credentials: verifier, buckets, failures }): VerifyBodyCredentials =>
    async ({ apiKey, authToken, sourceIp, now, log }) => {
      if (await failures.isUsedUp(FAILURES_NAME, sourceIp, { ...FAILURES, now })) throw tooManyFailures(now);
      const caller = await verifier.apiKey(apiKey, authToken, { now, fresh: true }).catch(async (error: unknown) => {
        if (error instanceof ApiError) await failures.allow(FAILURES_NAME, sourceIp, { ...FAILURES, now });
        throw error;
      });
      const { tenant, limits } = caller;
      const taken = await buckets.take({ tenant, limitClass: 'write', perSecond: limits.write, now });
      await Promise.all(taken.sharedBucketWrites).catch((error: unknown) =>
        log.warn(logMessages.rateLimitUpdateFailed, { error }),
      );
      if ('retryAfter' in taken) throw tooManyCalls('API key', 'sends too many writes', taken.retryAfter);
      return caller;
    },
);

function tooManyFailures(now: number): ApiError {
  const milliseconds = FAILURES.windowSeconds * 1000;
  return tooManyCalls('source address', 'sends too many wrong credentials', milliseconds - (now % milliseconds));
}
