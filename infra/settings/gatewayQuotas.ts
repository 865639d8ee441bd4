/**
 * For all APIs of an account in a region, in November 2026:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html. AWS raises the rate on request, and sets
 * the burst by the rate.
 */
const defaults = { perSecond: 10_000, burst: 5_000 };
const lower = { perSecond: 2_500, burst: 1_250 };

const lowerRegions: ReadonlySet<string> = new Set([
  'af-south-1',
  'ap-south-2',
  'ap-southeast-3',
  'ap-southeast-4',
  'ap-southeast-5',
  'ap-southeast-7',
  'ca-west-1',
  'eu-central-2',
  'eu-south-1',
  'eu-south-2',
  'il-central-1',
  'me-central-1',
  'mx-central-1',
]);

export const BURST_OF_EVERY_REGION = lower.burst;

export interface GatewayLimits {
  readonly requestsPerSecond: number;
  readonly publicRequestsPerSecond: number;
  readonly requestBurst: number;
  /** If AWS has raised the quotas of the account. */
  readonly accountRequestsPerSecond?: number | undefined;
  readonly accountRequestBurst?: number | undefined;
}

/** Returns a line for each limit above the quota of the account. Without a region, the highest default quotas count. */
export function gatewayProblems(limits: GatewayLimits, region: string | undefined): string[] {
  const inRegion = region !== undefined && lowerRegions.has(region) ? lower : defaults;
  const perSecond = {
    quota: 'Throttle rate',
    setting: 'accountRequestsPerSecond',
    byDefault: inRegion.perSecond,
  } as const;
  const burst = { quota: 'Throttle burst rate', setting: 'accountRequestBurst', byDefault: inRegion.burst } as const;
  const checks = [
    ['requestsPerSecond', perSecond],
    ['publicRequestsPerSecond', perSecond],
    ['requestBurst', burst],
  ] as const;
  return checks.flatMap(([name, { quota, setting, byDefault }]) => {
    const most = limits[setting] ?? byDefault;
    if (limits[name] <= most) return [];
    const place = region === undefined ? 'an account' : `an account in ${region}`;
    return limits[setting] === undefined
      ? `${name}: must be at most ${most}, the default quota "${quota}" of API Gateway for ${place}, but is ${limits[name]}. If AWS has raised the quota, set ${setting} to it`
      : `${name}: must be at most ${setting}, which is ${most}, but is ${limits[name]}`;
  });
}
