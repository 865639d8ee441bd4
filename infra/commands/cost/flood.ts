import { refusedCall } from '../../cost/calls.ts';
import { MILLION } from '../../cost/prices.ts';
import type { Settings } from '../../settings/settings.ts';
import { quotas } from '../simulate/quotas.ts';
import type { CostLine } from './idle.ts';

/** Requests per second, in the regions with the smallest default quota of an account. */
const MIN_QUOTA = 2_500;

/**
 * Returns the cost of an hour of refused calls at each ceiling. AWS does not bill what the gateway refuses above a
 * ceiling. The gateway applies `requestsPerSecond` to each route, so only the quota of the account limits all routes
 * together.
 */
export function floodBill({ requestsPerSecond }: Pick<Settings, 'requestsPerSecond'>): CostLine[] {
  const ceilings = [
    [`one route, at requestsPerSecond`, requestsPerSecond],
    ['all routes, at the smallest default quota of an account', MIN_QUOTA],
    ['all routes, at the usual default quota of an account', quotas.gatewayRequests.limit],
  ] as const;
  return ceilings.map(([item, perSecond]) => ({
    item,
    count: perSecond,
    dollars: (perSecond * 3_600 * refusedCall.total) / MILLION,
  }));
}
