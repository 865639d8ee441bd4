import { CfnOutput, type Stack } from 'aws-cdk-lib/core';
import type { Worker } from '../../lib/app/worker.ts';
import type { SharedResources } from '../constructs/environment.ts';
import { createQueues } from '../constructs/queues.ts';
import { createCredentials, createKey } from '../constructs/secrets.ts';
import { createTable } from '../constructs/table.ts';
import type { Settings } from '../settings/settings.ts';

export function createShared(
  stack: Stack,
  publicUrl: string,
  workers: readonly Worker[],
  settings: Settings,
): SharedResources {
  return {
    publicUrl,
    table: createTable(stack, settings),
    secrets: {
      masterKey: createKey(stack, 'MasterKey', 'Encrypts the secrets of customers'),
      signingKey: createKey(stack, 'SigningKey', 'Signs user tokens'),
      permissionKey: createKey(stack, 'PermissionKey', 'Signs the answers of permission providers'),
      live:
        settings.live === 'on'
          ? createKey(stack, 'LiveKey', 'Names live channels and encrypts their tokens')
          : undefined,
      heartbeat:
        settings.heartbeat === 'on'
          ? createCredentials(stack, 'HeartbeatCredentials', 'The API key and the auth token of the heartbeat')
          : undefined,
    },
    queues: createQueues(stack, workers),
  };
}

/** Creates the outputs that the operator's commands read. */
export function createOutputs(stack: Stack, { publicUrl, table, secrets }: SharedResources, settings: Settings): void {
  const outputs = {
    ApiUrl: publicUrl,
    TableName: table.ref,
    WebhookRetrySchedule: settings.webhookRetrySchedule,
    DueMarginSeconds: String(settings.dueMarginSeconds),
    MasterKeySecretArn: secrets.masterKey.ref,
    ServiceName: settings.serviceName,
    SigningKeySecretArn: secrets.signingKey.ref,
    PermissionKeySecretArn: secrets.permissionKey.ref,
    ...(secrets.live && { LiveKeySecretArn: secrets.live.ref }),
    ...(secrets.heartbeat && { HeartbeatSecretArn: secrets.heartbeat.ref }),
  };
  for (const [name, value] of Object.entries(outputs)) new CfnOutput(stack, name, { value });
}
