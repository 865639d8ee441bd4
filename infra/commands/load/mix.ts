/** The calls that `npm run load` sends and `npm run simulate` assumes: like those of a server that shows documents with comments. */
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { takesIdempotencyKey } from '../../../lib/http/capabilities.ts';
import { type CallCost, costsOfCalls, pinnedCapacity, withIdempotencyKey } from '../cost/calls.ts';

/** One kind of call. */
export interface MixedCall {
  readonly path: string;
  /** The share of this kind among all calls, relative to the other weights. */
  readonly weight: number;
  /** The name of the call in `npm run cost`, without the path. */
  readonly cost: string;
}

export const callMix = [
  { path: '/v2/commentannotations/get', weight: 6, cost: 'a page' },
  { path: '/v2/commentannotations/comments/add', weight: 3, cost: 'one' },
  { path: '/v2/organizations/documents/get', weight: 3, cost: 'by id' },
  { path: '/v2/users/get', weight: 3, cost: 'by id' },
  { path: '/v2/auth/permissions/get', weight: 3, cost: 'on a document' },
  { path: '/v2/organizations/documents/update', weight: 2, cost: 'one' },
] as const satisfies readonly MixedCall[];

/** The path of a call of the mix. */
export type MixedPath = (typeof callMix)[number]['path'];

/** A call of the mix with its cost. */
export interface PricedCall {
  readonly path: MixedPath;
  readonly kind: Endpoint['kind'];
  /** The share of the call. All shares have the sum 1. */
  readonly share: number;
  readonly cost: CallCost;
}

/**
 * Returns the calls of the mix with their costs in `npm run cost`. Writes have an `Idempotency-Key`, as the typed client sends
 * them. Throws if `npm run cost` does not have a call.
 */
export function costsOfMix(endpoints: readonly Endpoint[], pinned = pinnedCapacity()): PricedCall[] {
  const total = callMix.reduce((sum, { weight }) => sum + weight, 0);
  return callMix.map(({ path, weight, cost: suffix }) => {
    const name = `${path} ${suffix}`;
    const consumed = pinned.get(name);
    const endpoint = endpoints.find((declared) => declared.path === path);
    if (!consumed || !endpoint) throw new Error(`npm run cost has no "${name}"`);
    const [cost] = costsOfCalls(
      [endpoint],
      new Map([[name, takesIdempotencyKey(endpoint) ? withIdempotencyKey(consumed) : consumed]]),
    );
    return { path, kind: endpoint.kind, share: weight / total, cost: cost as CallCost };
  });
}
