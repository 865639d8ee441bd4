import type { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Aws } from 'aws-cdk-lib/core';
import { type Capability, type EnvironmentName, mergeGrants, type ResourceName } from '../../lib/app/capability.ts';
import { modelOfProfile } from '../../lib/bedrock/inferenceProfile.ts';
import type { Settings } from '../settings/settings.ts';
import type { EventApi } from './eventApi.ts';
import type { Permission } from './lambdaFunction.ts';
import type { Queues } from './queues.ts';

export interface SharedResources {
  readonly publicUrl: string;
  readonly table: CfnGlobalTable;
  readonly secrets: Readonly<Record<'masterKey' | 'permissionKey' | 'signingKey', CfnSecret>> & {
    readonly heartbeat?: CfnSecret | undefined;
    readonly live?: CfnSecret | undefined;
  };
  readonly queues: Queues;
  readonly eventApi?: EventApi | undefined;
}

export function environmentValues(
  { publicUrl, table, secrets, queues, eventApi }: SharedResources,
  settings: Settings,
): Record<EnvironmentName, string> {
  return {
    CALL_BURST_SECONDS: String(settings.callBurstSeconds),
    CLAUDE_MODEL_ID: settings.claudeModelId ?? '',
    DELIVER_QUEUE_URL: queues.deliver.queue.ref,
    DELIVER_SLOW_QUEUE_URL: queues.deliverSlow.queue.ref,
    DUE_MARGIN_SECONDS: String(settings.dueMarginSeconds),
    EMAIL_STATUS_PER_MINUTE_PER_ADDRESS: String(settings.emailStatusPerMinutePerAddress),
    EMAIL_STATUS_PER_MINUTE_PER_EMAIL: String(settings.emailStatusPerMinutePerEmail),
    EMBEDDING_MODEL: settings.embeddingModel,
    EMBED_QUEUE_URL: queues.embed.queue.ref,
    SWEEP_QUEUE_URL: queues.sweep.queue.ref,
    EXPENSIVE_CALLS_PER_SECOND_PER_KEY: String(settings.expensiveCallsPerSecondPerKey),
    HEARTBEAT_SECRET_ARN: secrets.heartbeat?.ref ?? '',
    JOBS_QUEUE_URL: queues.jobs.queue.ref,
    LIVE_HTTP_HOST: eventApi?.httpHost ?? '',
    LIVE_KEY_SECRET_ARN: secrets.live?.ref ?? '',
    LIVE_REALTIME_HOST: eventApi?.realtimeHost ?? '',
    LOGIN_LINKS_PER_HOUR_PER_EMAIL: String(settings.loginLinksPerHourPerEmail),
    MAILS_PER_RECIPIENT_PER_HOUR: String(settings.mailsPerRecipientPerHour),
    MAILS_PER_WRITER_PER_HOUR: String(settings.mailsPerWriterPerHour),
    MAIL_FROM: settings.mailFrom ?? '',
    MAIL_QUEUE_URL: queues.mail.queue.ref,
    MAIL_RETRY_SCHEDULE: settings.mailRetrySchedule,
    NOVA_MODEL_ID: settings.novaModelId ?? '',
    PERMISSION_KEY_SECRET_ARN: secrets.permissionKey.ref,
    PUBLIC_URL: publicUrl,
    READS_PER_SECOND_PER_KEY: String(settings.readsPerSecondPerKey),
    RECONCILE_AFTER_SECONDS: String(settings.reconcileAfterSeconds),
    SERVICE_NAME: settings.serviceName,
    TABLE_NAME: table.ref,
    MASTER_KEY_SECRET_ARN: secrets.masterKey.ref,
    SIGNING_KEY_SECRET_ARN: secrets.signingKey.ref,
    SLACK_API_URL: 'https://slack.com/api',
    UNVERIFIED_GRACE_DAYS: String(settings.unverifiedGraceDays),
    WEBHOOK_RETRY_SCHEDULE: settings.webhookRetrySchedule,
    WORKSPACE_CREATION: settings.workspaceCreation,
    WORKSPACE_CREATION_PER_MINUTE: String(settings.workspaceCreationPerMinute),
    WRITES_PER_SECOND_PER_KEY: String(settings.writesPerSecondPerKey),
  };
}

export type ResourceArns = Readonly<Record<ResourceName, readonly string[]>>;

export function resourceArns({ table, secrets, queues, eventApi }: SharedResources, settings: Settings): ResourceArns {
  const { mailFrom, mailIdentity = domainOf(mailFrom) } = settings;
  const ses = `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}`;
  return {
    // SES sends with the default configuration set of the identity, which the role must allow too. The operator chooses
    // the set in SES, so its name is not known here.
    'mail/identity': mailFrom === undefined ? [] : [`${ses}:identity/${mailIdentity}`, `${ses}:configuration-set/*`],
    'live/channels': eventApi?.namespaceArns ?? [],
    'model/claude': modelArns(settings.claudeModelId),
    'model/embedding': settings.embeddingModel === 'lexical' ? [] : modelArns(settings.embeddingModel),
    'model/nova': modelArns(settings.novaModelId),
    table: [table.attrArn],
    'index/content': [`${table.attrArn}/index/content`],
    'index/gsi1': [`${table.attrArn}/index/gsi1`],
    'index/gsi2': [`${table.attrArn}/index/gsi2`],
    'index/gsi3': [`${table.attrArn}/index/gsi3`],
    'index/gsi4': [`${table.attrArn}/index/gsi4`],
    'index/review': [`${table.attrArn}/index/review`],
    'queue/deliver': [queues.deliver.queue.attrArn],
    'queue/deliverSlow': [queues.deliverSlow.queue.attrArn],
    'queue/embed': [queues.embed.queue.attrArn],
    'queue/jobs': [queues.jobs.queue.attrArn],
    'queue/mail': [queues.mail.queue.attrArn],
    'secret/heartbeat': secrets.heartbeat ? [secrets.heartbeat.ref] : [],
    'queue/sweep': [queues.sweep.queue.attrArn],
    'secret/liveKey': secrets.live ? [secrets.live.ref] : [],
    'secret/masterKey': [secrets.masterKey.ref],
    'secret/permissionKey': [secrets.permissionKey.ref],
    'secret/signingKey': [secrets.signingKey.ref],
  };
}

/** An inference profile can forward a call to another region, so the role must allow the model in every region. */
function modelArns(id: string | undefined): string[] {
  if (id === undefined) return [];
  const model = modelOfProfile(id);
  const bedrock = `arn:${Aws.PARTITION}:bedrock`;
  if (model === undefined) return [`${bedrock}:${Aws.REGION}::foundation-model/${id}`];
  return [
    `${bedrock}:${Aws.REGION}:${Aws.ACCOUNT_ID}:inference-profile/${id}`,
    `${bedrock}:*::foundation-model/${model}`,
  ];
}

export interface DeploymentContext {
  readonly environment: Readonly<Record<EnvironmentName, string>>;
  readonly arns: ResourceArns;
}

export function functionAccess(
  capabilities: readonly Capability<unknown>[],
  { environment, arns }: DeploymentContext,
): { environment: Record<string, string>; statements: Permission[] } {
  const names = [...new Set(capabilities.flatMap(({ env }) => env))].sort();
  return {
    environment: Object.fromEntries(names.map((name) => [name, environment[name]])),
    statements: mergeGrants(capabilities.flatMap(({ grants }) => grants)).flatMap(({ resource, actions }) => {
      const resources = arns[resource];
      return resources.length === 0
        ? []
        : [{ actions: actions.map((action) => iamAction(resource, action)), resources }];
    }),
  };
}

function domainOf(address = ''): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

const services: Readonly<Record<string, string>> = {
  table: 'dynamodb',
  index: 'dynamodb',
  queue: 'sqs',
  secret: 'secretsmanager',
  mail: 'ses',
  model: 'bedrock',
  live: 'appsync',
};

/** Returns for example `sqs:SendMessage`. Grants name actions without the service. */
export function iamAction(resource: ResourceName, action: string): string {
  const [kind = ''] = resource.split('/');
  return `${services[kind]}:${action}`;
}
