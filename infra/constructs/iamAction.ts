import type { ResourceName } from '../../lib/app/capability.ts';

/** Maps the first part of a resource's name to the service in IAM actions. */
const services: Readonly<Record<string, string>> = {
  table: 'dynamodb',
  index: 'dynamodb',
  queue: 'sqs',
  secret: 'secretsmanager',
  mail: 'ses',
  model: 'bedrock',
  live: 'appsync',
};

/** Returns the full IAM name of an action, such as `sqs:SendMessage`. Grants name actions without the service. */
export function iamAction(resource: ResourceName, action: string): string {
  const [kind = ''] = resource.split('/');
  return `${services[kind]}:${action}`;
}
