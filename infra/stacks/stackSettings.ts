import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { Function } from 'aws-cdk-lib/aws-lambda';
import { type Stack, Tags } from 'aws-cdk-lib/core';
import { METRICS_SERVICE } from '../../lib/observability/metricsWriter.ts';
import { encryptWith } from '../constructs/encryption.ts';
import { metricsService, type Settings } from '../settings/settings.ts';

/** Applies the settings that change existing resources of all kinds. Call it when the stack has all resources. */
export function applyToAll(stack: Stack, settings: Settings): void {
  for (const [key, value] of Object.entries(settings.tags ?? {})) Tags.of(stack).add(key, value);
  if (settings.permissionsBoundary !== undefined) limitRoles(stack, settings.permissionsBoundary);
  if (settings.kmsKeyArn !== undefined) encryptWith(settings.kmsKeyArn, stack);
  if (metricsService(settings) === settings.serviceName) return;
  for (const construct of stack.node.findAll())
    if (construct instanceof Function) construct.addEnvironment(METRICS_SERVICE, metricsService(settings));
}

function limitRoles(stack: Stack, policy: string): void {
  const boundary = policy.startsWith('arn:')
    ? ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', policy)
    : ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', policy);
  PermissionsBoundary.of(stack).apply(boundary);
}
