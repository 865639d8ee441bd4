import { sourceOf } from '../net/sourceOf.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { type Middleware, tooManyCalls } from './middlewares.ts';
import { type Bucket, fullBucket, type Limit, takeTokens } from './rules/rateLimit.ts';

const SOURCE: Limit = { perSecond: 5, burstSeconds: 10 };
/** Of all addresses in one process. An answer of `/docs` has several hundred kB, which cost more than the call. */
const ALL: Limit = { perSecond: 25, burstSeconds: 10 };
const MAX_SOURCES = 10_000;

/**
 * Throws RESOURCE_EXHAUSTED with `retry-after`. Each process counts on its own. A call above the limit of its address
 * does not count for the limit of all addresses.
 */
export function limitSources(): Middleware {
  const sources = new BoundedMap<string, Bucket>(MAX_SOURCES);
  let all = fullBucket;
  return {
    before: ({ event, internal }) => {
      const source = sourceOf(event.requestContext.http.sourceIp);
      const now = internal.startedAt;
      const refuse = (sender: string, problem: string, retryAfter: number) => {
        internal.limitedClass = 'source';
        return tooManyCalls(sender, problem, retryAfter);
      };
      const ofSource = takeTokens(sources.get(source) ?? fullBucket, SOURCE, now);
      if ('retryAfter' in ofSource) throw refuse('source address', 'sends too many requests', ofSource.retryAfter);
      const ofAll = takeTokens(all, ALL, now);
      if ('retryAfter' in ofAll) throw refuse('service', 'gets too many requests', ofAll.retryAfter);
      sources.set(source, ofSource);
      all = ofAll;
    },
  };
}
