import { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import { Aws, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { indexNames } from '../../lib/app/capability.ts';
import { vectorIndexes, vectorKeys } from '../../lib/memory/vectorIndexes.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * A global table with one replica (decision 097). It has all indexes from the first deployment, because CloudFormation
 * adds only one index per update. `restoredOn` and `tags` become tags of the replica.
 */
export function createTable(scope: Construct, { restoredOn, kmsKeyArn, tags = {} }: Settings): CfnGlobalTable {
  // It is not certain that the tags of a stack reach this type of table, so the replica gets them too.
  const replicaTags = Object.entries({ ...tags, ...(restoredOn !== undefined && { restored: restoredOn }) }).map(
    ([key, value]) => ({ key, value }),
  );
  const table = new CfnGlobalTable(scope, 'Table', {
    attributeDefinitions: [
      'PK',
      'SK',
      ...indexNames.flatMap((index) => [`${index}pk`, `${index}sk`]),
      ...vectorKeys,
    ].map((attributeName) => ({ attributeName, attributeType: 'S' })),
    keySchema: [
      { attributeName: 'PK', keyType: 'HASH' },
      { attributeName: 'SK', keyType: 'RANGE' },
    ],
    billingMode: 'PAY_PER_REQUEST',
    globalSecondaryIndexes: indexNames.map((indexName) => ({
      indexName,
      keySchema: [
        { attributeName: `${indexName}pk`, keyType: 'HASH' },
        { attributeName: `${indexName}sk`, keyType: 'RANGE' },
      ],
      projection: { projectionType: 'KEYS_ONLY' },
    })),
    vectorIndexes: vectorIndexes.map(
      ({ IndexName, VectorAttribute, Dimensions, DistanceFunction, SearchSchema, Projection }) => ({
        indexName: IndexName,
        vectorAttribute: { attributeName: VectorAttribute.AttributeName },
        dimensions: Dimensions,
        distanceFunction: DistanceFunction,
        searchSchema: SearchSchema.map(({ AttributeName, SearchSchemaElementType }) => ({
          attributeName: AttributeName,
          searchSchemaElementType: SearchSchemaElementType,
        })),
        projection: { projectionType: Projection.ProjectionType, nonKeyAttributes: Projection.NonKeyAttributes },
      }),
    ),
    timeToLiveSpecification: { attributeName: 'ttl', enabled: true },
    // A second replica needs both images. Another view type later would create another stream.
    streamSpecification: { streamViewType: 'NEW_AND_OLD_IMAGES' },
    ...(kmsKeyArn !== undefined && { sseSpecification: { sseEnabled: true, sseType: 'KMS' } }),
    replicas: [
      {
        region: Aws.REGION,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        deletionProtectionEnabled: true,
        ...(kmsKeyArn !== undefined && { sseSpecification: { kmsMasterKeyId: kmsKeyArn } }),
        ...(replicaTags.length > 0 && { tags: replicaTags }),
      },
    ],
  });
  // Not RetainExceptOnCreate: the rollback of a first deployment would fail, because the table is protected against
  // deletion.
  table.applyRemovalPolicy(RemovalPolicy.RETAIN);
  return table;
}
