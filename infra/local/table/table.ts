import { setTimeout as delay } from 'node:timers/promises';
import type { TableModel } from '../assembly/model.ts';
import { StartError } from '../startError.ts';
import type { EngineCall } from './engineCall.ts';

const POLL_MILLISECONDS = 50;

interface Index {
  readonly IndexName: string;
  readonly KeySchema: unknown;
  readonly Projection: unknown;
}

/** A vector index of the template. Its definition is passed to the engine unchanged. */
interface VectorIndex {
  readonly IndexName: string;
}

interface Described {
  readonly IndexName: string;
  readonly IndexStatus: string;
  /** Whether the engine has not yet indexed all existing items. A vector index cannot be searched before that. */
  readonly Backfilling?: boolean;
}

interface Description {
  readonly TableStatus: string;
  readonly KeySchema: readonly { AttributeName: string; KeyType: string }[];
  readonly GlobalSecondaryIndexes?: readonly Described[];
  readonly VectorIndexes?: readonly Described[];
}

interface Indexes {
  readonly AttributeDefinitions: unknown;
  readonly KeySchema: unknown;
  readonly GlobalSecondaryIndexes?: readonly Index[];
  readonly VectorIndexes?: readonly VectorIndex[];
}

/**
 * Creates the table of the template. If an earlier run has created it, adds missing indexes. Throws a `StartError` if
 * the existing table has other keys. Ignores properties that the engine does not support: backups, encryption at rest,
 * deletion protection, tags.
 */
export async function ensureTable(engine: EngineCall, { name, properties }: TableModel): Promise<void> {
  const call = <T>(operation: string, input: object) =>
    engine<T>(`DynamoDB_20120810.${operation}`, { TableName: name, ...input });
  const describe = async () => (await call<{ Table: Description }>('DescribeTable', {})).Table;
  const waitUntilActive = async () => {
    for (;;) {
      const { TableStatus, GlobalSecondaryIndexes = [], VectorIndexes = [] } = await describe();
      if (
        TableStatus === 'ACTIVE' &&
        [...GlobalSecondaryIndexes, ...VectorIndexes].every(
          ({ IndexStatus, Backfilling = false }) => IndexStatus === 'ACTIVE' && !Backfilling,
        )
      )
        return;
      await delay(POLL_MILLISECONDS);
    }
  };

  const {
    AttributeDefinitions,
    KeySchema,
    GlobalSecondaryIndexes = [],
    VectorIndexes = [],
  } = properties as unknown as Indexes;
  const existing = await describe().catch((error: unknown) => {
    if ((error as Error).name !== 'ResourceNotFoundException') throw error;
  });
  if (!existing) {
    const indexes = {
      ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes: GlobalSecondaryIndexes.map(withoutCapacity) }),
      ...(VectorIndexes.length > 0 && { VectorIndexes }),
    };
    await call('CreateTable', {
      AttributeDefinitions,
      KeySchema,
      ...indexes,
      BillingMode: 'PAY_PER_REQUEST',
      ...streamSettings(properties),
    });
    await waitUntilActive();
    if (properties.TimeToLiveSpecification)
      await call('UpdateTimeToLive', { TimeToLiveSpecification: properties.TimeToLiveSpecification });
    return;
  }
  if (keysOf(existing.KeySchema) !== keysOf(KeySchema as Description['KeySchema'])) {
    throw new StartError(
      `The table ${name} has other keys in the data directory than in the template. Set DATA_DIR to another directory, or delete it.`,
    );
  }
  const present = new Set(existing.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
  for (const index of GlobalSecondaryIndexes.filter(({ IndexName }) => !present.has(IndexName))) {
    await call('UpdateTable', {
      AttributeDefinitions,
      GlobalSecondaryIndexUpdates: [{ Create: withoutCapacity(index) }],
    });
    await waitUntilActive();
  }
  const presentVectorIndexes = new Set(existing.VectorIndexes?.map(({ IndexName }) => IndexName));
  for (const index of VectorIndexes.filter(({ IndexName }) => !presentVectorIndexes.has(IndexName))) {
    await call('UpdateTable', { AttributeDefinitions, VectorIndexUpdates: [{ Create: index }] });
    await waitUntilActive();
  }
}

/**
 * Returns the table without vector indexes. Also removes definitions of attributes that only vector indexes use,
 * because CreateTable refuses such definitions.
 */
export function withoutVectorIndexes({
  properties: { VectorIndexes: _, ...properties },
  ...table
}: TableModel): TableModel {
  const {
    AttributeDefinitions,
    KeySchema,
    GlobalSecondaryIndexes = [],
  } = properties as unknown as Pick<Indexes, 'GlobalSecondaryIndexes'> & {
    [Name in 'AttributeDefinitions' | 'KeySchema']: { AttributeName: string }[];
  };
  const keys = [KeySchema, ...GlobalSecondaryIndexes.map((index) => index.KeySchema as typeof KeySchema)].flat();
  const names = new Set(keys.map(({ AttributeName }) => AttributeName));
  return {
    ...table,
    properties: {
      ...properties,
      AttributeDefinitions: AttributeDefinitions.filter(({ AttributeName }) => names.has(AttributeName)),
    },
  };
}

/** Returns an index without its capacity settings. An index with on-demand billing has none. */
function withoutCapacity({ IndexName, KeySchema, Projection }: Index): Index {
  return { IndexName, KeySchema, Projection };
}

/**
 * Returns the stream settings for the API. In CloudFormation a view type enables the stream. The API also needs a flag.
 */
function streamSettings({ StreamSpecification }: Record<string, unknown>): object {
  return StreamSpecification ? { StreamSpecification: { StreamEnabled: true, ...StreamSpecification } } : {};
}

function keysOf(schema: Description['KeySchema']): string {
  return schema.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).join();
}

export function keyNames({ properties }: TableModel): string[] {
  return (properties.KeySchema as Description['KeySchema']).map(({ AttributeName }) => AttributeName);
}
