import type { Capability, EnvironmentName, ResourceName } from '../../lib/app/capability.ts';
import { pairsOf } from './assembly.ts';

/** Returns the ARN of a resource, as templates have it. */
export const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
/** Returns a text of parts that are known only in a deployment, as templates have it. */
export const joined = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });

const indexArn = (name: string) => joined(arnOf('Table'), `/index/${name}`);

const sesArn = (resource: string) =>
  joined(
    'arn:',
    { Ref: 'AWS::Partition' },
    ':ses:',
    { Ref: 'AWS::Region' },
    ':',
    { Ref: 'AWS::AccountId' },
    `:${resource}`,
  );
/** The resources that a mail of an identity uses: the identity, and the default configuration set of the identity. */
export const mailArns = (identity: string) => [sesArn(`identity/${identity}`), sesArn('configuration-set/*')];

const modelArn = (id: string) =>
  joined('arn:', { Ref: 'AWS::Partition' }, ':bedrock:', { Ref: 'AWS::Region' }, `::foundation-model/${id}`);

/** The settings of a deployment with every optional part. */
export const complete = {
  mailFrom: 'no-reply@mail.example.com',
  claudeModelId: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  novaModelId: 'amazon.nova-pro-v1:0',
};

/**
 * The expected values of each grant and variable. They are written down again here on purpose, because expectations
 * that the code computes could not fail.
 */
const arns: Record<ResourceName, unknown> = {
  table: arnOf('Table'),
  'index/gsi1': indexArn('gsi1'),
  'index/gsi2': indexArn('gsi2'),
  'index/gsi3': indexArn('gsi3'),
  'index/gsi4': indexArn('gsi4'),
  'index/content': indexArn('content'),
  'index/review': indexArn('review'),
  'model/claude': modelArn(complete.claudeModelId),
  'model/embedding': modelArn('amazon.titan-embed-text-v2:0'),
  'model/nova': modelArn(complete.novaModelId),
  'queue/deliver': arnOf('DeliverQueue'),
  'queue/deliverSlow': arnOf('DeliverSlowQueue'),
  'queue/embed': arnOf('EmbedQueue'),
  'queue/sweep': arnOf('SweepQueue'),
  'queue/jobs': arnOf('JobsQueue'),
  'queue/mail': arnOf('MailQueue'),
  'secret/heartbeat': 'test/infra/heartbeat.test.ts expects it',
  'secret/masterKey': { Ref: 'MasterKey' },
  'secret/signingKey': { Ref: 'SigningKey' },
  'secret/permissionKey': { Ref: 'PermissionKey' },
  'secret/liveKey': { Ref: 'LiveKey' },
  'mail/identity': mailArns('mail.example.com'),
  'live/channels': 'test/infra/live.test.ts expects it',
};
const services: Record<string, string> = {
  table: 'dynamodb',
  index: 'dynamodb',
  queue: 'sqs',
  secret: 'secretsmanager',
  mail: 'ses',
  model: 'bedrock',
};
const values: Record<EnvironmentName, unknown> = {
  CALL_BURST_SECONDS: '10',
  CLAUDE_MODEL_ID: complete.claudeModelId,
  DELIVER_QUEUE_URL: { Ref: 'DeliverQueue' },
  DELIVER_SLOW_QUEUE_URL: { Ref: 'DeliverSlowQueue' },
  DUE_MARGIN_SECONDS: '300',
  EMAIL_STATUS_PER_MINUTE_PER_ADDRESS: '60',
  EMAIL_STATUS_PER_MINUTE_PER_EMAIL: '10',
  EMBEDDING_MODEL: 'amazon.titan-embed-text-v2:0',
  EMBED_QUEUE_URL: { Ref: 'EmbedQueue' },
  SWEEP_QUEUE_URL: { Ref: 'SweepQueue' },
  EXPENSIVE_CALLS_PER_SECOND_PER_KEY: '50',
  HEARTBEAT_SECRET_ARN: 'test/infra/heartbeat.test.ts expects it',
  JOBS_QUEUE_URL: { Ref: 'JobsQueue' },
  LOGIN_LINKS_PER_HOUR_PER_EMAIL: '10',
  LIVE_HTTP_HOST: 'test/infra/live.test.ts expects it',
  LIVE_REALTIME_HOST: 'test/infra/live.test.ts expects it',
  MAILS_PER_RECIPIENT_PER_HOUR: '20',
  MAILS_PER_WRITER_PER_HOUR: '200',
  MAIL_FROM: complete.mailFrom,
  MAIL_QUEUE_URL: { Ref: 'MailQueue' },
  MAIL_RETRY_SCHEDULE: '0,60,300,1800,7200,21600',
  READS_PER_SECOND_PER_KEY: '500',
  RECONCILE_AFTER_SECONDS: '180',
  NOVA_MODEL_ID: complete.novaModelId,
  PUBLIC_URL: { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] },
  SERVICE_NAME: 'svc',
  TABLE_NAME: { Ref: 'Table' },
  MASTER_KEY_SECRET_ARN: { Ref: 'MasterKey' },
  SIGNING_KEY_SECRET_ARN: { Ref: 'SigningKey' },
  SLACK_API_URL: 'https://slack.com/api',
  PERMISSION_KEY_SECRET_ARN: { Ref: 'PermissionKey' },
  LIVE_KEY_SECRET_ARN: { Ref: 'LiveKey' },
  UNVERIFIED_GRACE_DAYS: '14',
  WEBHOOK_RETRY_SCHEDULE: '0,5,300,1800,7200,18000,36000,36000',
  WORKSPACE_CREATION: 'closed',
  WORKSPACE_CREATION_PER_MINUTE: '60',
  WRITES_PER_SECOND_PER_KEY: '200',
};

/** Returns the permissions that capabilities need, in the format of `pairsOf`. */
export function grantedPairs(capabilities: readonly Capability<unknown>[]): string[] {
  return pairsOf(
    capabilities
      .flatMap(({ grants }) => grants)
      .map(({ resource, actions }) => ({
        Resource: arns[resource],
        Action: actions.map((action) => `${services[resource.split('/')[0]!]}:${action}`),
      })),
  );
}

/** Returns the environment variables that capabilities need. */
export function expectedEnvironment(capabilities: readonly Capability<unknown>[]): Record<string, unknown> {
  return Object.fromEntries(capabilities.flatMap(({ env }) => env).map((name) => [name, values[name]]));
}

/** Returns the permissions that a function needs for its log. */
export function logPairs(logGroup: string): string[] {
  return pairsOf([{ Resource: arnOf(logGroup), Action: ['logs:CreateLogStream', 'logs:PutLogEvents'] }]);
}
