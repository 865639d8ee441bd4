import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { PING } from '../../lib/app/page.ts';
import { createInvoker } from './invoker.ts';

/** Assumed, because Lambda documents no time after which it stops an idle instance. */
const PING_MINUTES = 5;

export function keepWarm(scope: Construct, functions: readonly Function[]): void {
  const scheduler = new ServicePrincipal('scheduler.amazonaws.com', {
    conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
  });
  const role = createInvoker(scope, 'Pinger', scheduler, functions);
  for (const pinged of functions) {
    new CfnSchedule(pinged, 'Ping', {
      scheduleExpression: `rate(${PING_MINUTES} minutes)`,
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: pinged.functionArn,
        roleArn: role.roleArn,
        input: JSON.stringify(PING),
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      },
    });
  }
}
