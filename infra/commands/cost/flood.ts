/** The cost of a flood of calls that the service refuses. */
import { refusedCall } from '../../cost/calls.ts';
import { MILLION } from '../../cost/prices.ts';
import type { Settings } from '../../settings/settings.ts';
import { quotas } from '../simulate/quotas.ts';
import type { CostLine } from './idle.ts';

/** The default quota of an account in the regions with the smallest one, in requests per second. */
const MIN_QUOTA = 2_500;

/**
 * Returns the cost of an hour of refused calls at each ceiling. The gateway refuses more calls itself, and AWS does not bill
 * those. Assumes that the gateway applies `requestsPerSecond` to each route, so the quota of the account is the ceiling of all.
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
