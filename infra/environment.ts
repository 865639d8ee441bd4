import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { EnvironmentName, ResourceName } from '../lib/capability.ts';
import type { Settings } from './settings.ts';

/** The resources that functions share. */
export interface SharedResources {
  readonly table: CfnTable;
  readonly secrets: Readonly<Record<'masterKey' | 'signingKey', CfnSecret>>;
}

/** Where the value of each environment variable comes from: an attribute of a resource, or a setting. */
export function environmentValues({ table, secrets }: SharedResources, settings: Settings): Record<EnvironmentName, string> {
  return {
    SERVICE_NAME: settings.serviceName,
    TABLE_NAME: table.ref,
    MASTER_KEY_SECRET_ARN: secrets.masterKey.ref,
    SIGNING_KEY_SECRET_ARN: secrets.signingKey.ref,
    UNVERIFIED_GRACE_DAYS: String(settings.unverifiedGraceDays),
    WORKSPACE_CREATION: settings.workspaceCreation,
    WORKSPACE_CREATION_PER_MINUTE: String(settings.workspaceCreationPerMinute),
  };
}

/** The one ARN that a grant on each resource names. */
export function resourceArns({ table, secrets }: SharedResources): Record<ResourceName, string> {
  return {
    table: table.attrArn,
    'index/gsi1': `${table.attrArn}/index/gsi1`,
    'index/gsi2': `${table.attrArn}/index/gsi2`,
    'index/gsi3': `${table.attrArn}/index/gsi3`,
    'index/gsi4': `${table.attrArn}/index/gsi4`,
    'secret/masterKey': secrets.masterKey.ref,
    'secret/signingKey': secrets.signingKey.ref,
  };
}

/** The IAM name of an action: grants leave out the service, which the resource tells. */
export function iamAction(resource: ResourceName, action: string): string {
  return `${resource.startsWith('secret/') ? 'secretsmanager' : 'dynamodb'}:${action}`;
}
