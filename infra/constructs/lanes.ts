import type { CfnResource } from 'aws-cdk-lib/core';

/**
 * API Gateway accepts 10 changes per second from an account, in bursts of 40, but CloudFormation would create hundreds
 * of routes at once. These lanes allow at most 12 routes and integrations at the same time.
 */
export const STACK_LANES = 3;
export const ROUTE_LANES = 4;

/** Each resource waits for the one that is `lanes` places before it. The first ones wait for all in `after`. */
export function deployInLanes(
  resources: readonly CfnResource[],
  lanes: number,
  after: readonly CfnResource[] = [],
): void {
  for (const [index, resource] of resources.entries()) {
    const before = resources[index - lanes];
    for (const other of before ? [before] : after) resource.addResourceDependency(other);
  }
}
