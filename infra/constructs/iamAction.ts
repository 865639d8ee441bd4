import type { ResourceName } from '../../lib/app/capability.ts';

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
