import type { CfnResource } from 'aws-cdk-lib/core';

/**
 * API Gateway accepts 10 changes of APIs per second from an account, in bursts of 40, and AWS does not raise this quota.
 * CloudFormation would create hundreds of routes at once. So the stacks of families are deployed in `STACK_LANES`
 * sequences, and routes and integrations of each stack in `ROUTE_LANES`: at most 12 at the same time.
 */
export const STACK_LANES = 3;
export const ROUTE_LANES = 4;

/**
 * Makes CloudFormation deploy resources in their order, at most `lanes` at the same time: each resource waits for the
 * one that is `lanes` places before it. The first resources wait for all in `after`.
 */
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
