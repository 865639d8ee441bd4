import { Aws } from 'aws-cdk-lib';
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { EnvironmentName, ResourceName } from '../lib/capability.ts';
import type { Settings } from './settings.ts';

/** The resources that functions share. */
export interface SharedResources {
  readonly api: CfnApi;
  readonly table: CfnTable;
  readonly secrets: Readonly<Record<'masterKey' | 'signingKey', CfnSecret>>;
}

/** Where the value of each environment variable comes from: an attribute of a resource, or a setting. */
export function environmentValues({ api, table, secrets }: SharedResources, settings: Settings): Record<EnvironmentName, string> {
  return {
    EMAIL_STATUS_PER_MINUTE_PER_ADDRESS: String(settings.emailStatusPerMinutePerAddress),
    EMAIL_STATUS_PER_MINUTE_PER_EMAIL: String(settings.emailStatusPerMinutePerEmail),
    LOGIN_LINKS_PER_HOUR_PER_EMAIL: String(settings.loginLinksPerHourPerEmail),
    MAIL_FROM: settings.mailFrom ?? '',
    PUBLIC_URL: api.attrApiEndpoint,
    SERVICE_NAME: settings.serviceName,
    TABLE_NAME: table.ref,
    MASTER_KEY_SECRET_ARN: secrets.masterKey.ref,
    SIGNING_KEY_SECRET_ARN: secrets.signingKey.ref,
    UNVERIFIED_GRACE_DAYS: String(settings.unverifiedGraceDays),
    WORKSPACE_CREATION: settings.workspaceCreation,
    WORKSPACE_CREATION_PER_MINUTE: String(settings.workspaceCreationPerMinute),
  };
}

/** The one ARN that a grant on each resource names; none for what this deployment does not have. */
export type ResourceArns = Readonly<Record<ResourceName, string | undefined>>;

export function resourceArns({ table, secrets }: SharedResources, { mailFrom, mailIdentity = domainOf(mailFrom) }: Settings): ResourceArns {
  return {
    'mail/identity': mailFrom === undefined ? undefined : `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:identity/${mailIdentity}`,
    table: table.attrArn,
    'index/gsi1': `${table.attrArn}/index/gsi1`,
    'index/gsi2': `${table.attrArn}/index/gsi2`,
    'index/gsi3': `${table.attrArn}/index/gsi3`,
    'index/gsi4': `${table.attrArn}/index/gsi4`,
    'secret/masterKey': secrets.masterKey.ref,
    'secret/signingKey': secrets.signingKey.ref,
  };
}

/** The IAM names of services, by the kind of resource. */
const services: Readonly<Record<string, string>> = { table: 'dynamodb', index: 'dynamodb', secret: 'secretsmanager', mail: 'ses' };

/** The IAM name of an action: grants leave out the service, which the resource tells. */
export function iamAction(resource: ResourceName, action: string): string {
  return `${services[resource.split('/')[0]!]}:${action}`;
}

function domainOf(address = ''): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
