/** The cost of a flood of calls that the service refuses. */
import type { Settings } from '../../settings/settings.ts';
import { quotas } from '../simulate/quotas.ts';
import { costOfCall } from './calls.ts';
import type { CostLine } from './idle.ts';
import { MILLION } from './prices.ts';

const ERROR_BYTES = 120;

/**
 * The dearest refused call without valid credentials: an unknown API key of the right form, which a process reads eventually and
 * then consistently. A malformed key costs no read.
 */
export const refusedCall = costOfCall(
  'a call with an unknown API key',
  { roundTrips: 2, read: 1, written: 0 },
  { answerBytes: ERROR_BYTES },
);

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
