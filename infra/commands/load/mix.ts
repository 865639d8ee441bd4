/**
 * The calls that `npm run load` sends and that `npm run simulate` assumes. They are typical for a server that shows
 * documents with comments.
 */
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { takesIdempotencyKey } from '../../../lib/http/capabilities.ts';
import { type CallCost, consumptionOfRequests, costsOfCalls, withIdempotencyKey } from '../../cost/calls.ts';

export interface MixedCall {
  readonly path: string;
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

export type MixedPath = (typeof callMix)[number]['path'];

export interface PricedCall {
  readonly path: MixedPath;
  readonly kind: Endpoint['kind'];
  /** The part of all calls, from 0 to 1. */
  readonly share: number;
  readonly cost: CallCost;
}

/** Writes have an `Idempotency-Key`, as the typed client sends them. Throws if the cost of a call is unknown. */
export function costsOfMix(
  endpoints: readonly Endpoint[],
  consumption = consumptionOfRequests(endpoints),
): PricedCall[] {
  const total = callMix.reduce((sum, { weight }) => sum + weight, 0);
  return callMix.map(({ path, weight, cost: suffix }) => {
    const name = `${path} ${suffix}`;
    const consumed = consumption.get(name);
    const endpoint = endpoints.find((declared) => declared.path === path);
    if (!consumed || !endpoint) throw new Error(`npm run cost has no "${name}"`);
    const [cost] = costsOfCalls(
      [endpoint],
      new Map([[name, takesIdempotencyKey(endpoint) ? withIdempotencyKey(consumed) : consumed]]),
    );
    return { path, kind: endpoint.kind, share: weight / total, cost: cost as CallCost };
  });
}
