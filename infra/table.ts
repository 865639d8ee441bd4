import { RemovalPolicy } from 'aws-cdk-lib';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { indexNames } from '../lib/capability.ts';

/**
 * The one table. All four indexes exist from the first deployment, because CloudFormation creates one per update.
 * An L1 construct, because its logical id is then the id written here, which no refactoring changes by accident.
 */
export function createTable(scope: Construct): CfnTable {
  const table = new CfnTable(scope, 'Table', {
    attributeDefinitions: ['PK', 'SK', ...indexNames.flatMap((index) => [`${index}pk`, `${index}sk`])]
      .map((attributeName) => ({ attributeName, attributeType: 'S' })),
    keySchema: [{ attributeName: 'PK', keyType: 'HASH' }, { attributeName: 'SK', keyType: 'RANGE' }],
    billingMode: 'PAY_PER_REQUEST',
    globalSecondaryIndexes: indexNames.map((indexName) => ({
      indexName,
      keySchema: [{ attributeName: `${indexName}pk`, keyType: 'HASH' }, { attributeName: `${indexName}sk`, keyType: 'RANGE' }],
      projection: { projectionType: 'KEYS_ONLY' },
    })),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    timeToLiveSpecification: { attributeName: 'ttl', enabled: true },
    streamSpecification: { streamViewType: 'NEW_IMAGE' },
    deletionProtectionEnabled: true,
  });
  table.applyRemovalPolicy(RemovalPolicy.RETAIN);
  return table;
}
