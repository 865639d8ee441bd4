import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { indexNames } from '../../lib/app/capability.ts';
import { vectorIndexes, vectorKeys } from '../../lib/memory/vectorIndexes.ts';

/**
 * Creates the only table. It has all indexes from the first deployment, because CloudFormation can add only one index
 * per update. The L1 construct keeps the logical id `Table`.
 */
export function createTable(scope: Construct): CfnTable {
  const table = new CfnTable(scope, 'Table', {
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
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    timeToLiveSpecification: { attributeName: 'ttl', enabled: true },
    streamSpecification: { streamViewType: 'NEW_IMAGE' },
    deletionProtectionEnabled: true,
  });
  // Not RetainExceptOnCreate: the rollback of a first deployment would fail, because the table is protected against
  // deletion. The empty table that remains costs nothing.
  table.applyRemovalPolicy(RemovalPolicy.RETAIN);
  Validations.of(table).acknowledge({
    id: 'CloudFormation-Validate::E3039',
    reason:
      "DynamoDB requires attribute definitions for a vector index's search schema. The rule checks key schemas only.",
  });
  return table;
}
