import { setTimeout as delay } from 'node:timers/promises';
import type { TableModel } from '../assembly/model.ts';
import { StartError } from '../startError.ts';
import type { EngineCall } from './engineCall.ts';

const POLL_MILLISECONDS = 50;

type KeySchema = readonly { readonly AttributeName: string; readonly KeyType: string }[];

interface Index {
  readonly IndexName: string;
  readonly KeySchema: KeySchema;
  readonly Projection: unknown;
}

interface VectorIndex {
  readonly IndexName: string;
}

interface Described {
  readonly IndexName: string;
  readonly IndexStatus: string;
  /** A vector index cannot be searched before the engine has indexed all existing items. */
  readonly Backfilling?: boolean;
}

interface Description {
  readonly TableStatus: string;
  readonly KeySchema: KeySchema;
  readonly GlobalSecondaryIndexes?: readonly Described[];
  readonly VectorIndexes?: readonly Described[];
}

interface Indexes {
  readonly AttributeDefinitions: readonly { readonly AttributeName: string }[];
  readonly KeySchema: KeySchema;
  readonly GlobalSecondaryIndexes?: readonly Index[];
  readonly VectorIndexes?: readonly VectorIndex[];
}

/**
 * Creates the table, or adds missing indexes to an existing one. Throws a `StartError` if the existing one has other
 * keys.
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
  if (keysOf(existing.KeySchema) !== keysOf(KeySchema)) {
    throw new StartError(
      `The table ${name} has other keys in the data directory than in the template. Set DATA_DIR to another directory, or delete it.`,
    );
  }
  const updates = [
    ...missing(GlobalSecondaryIndexes, existing.GlobalSecondaryIndexes).map((index) => ({
      GlobalSecondaryIndexUpdates: [{ Create: withoutCapacity(index) }],
    })),
    ...missing(VectorIndexes, existing.VectorIndexes).map((index) => ({ VectorIndexUpdates: [{ Create: index }] })),
  ];
  for (const update of updates) {
    await call('UpdateTable', { AttributeDefinitions, ...update });
    await waitUntilActive();
  }
}

function missing<I extends VectorIndex>(indexes: readonly I[], present: readonly Described[] = []): I[] {
  const names = new Set(present.map(({ IndexName }) => IndexName));
  return indexes.filter(({ IndexName }) => !names.has(IndexName));
}

/** CreateTable refuses definitions of attributes that no key uses. */
export function withoutVectorIndexes({
  properties: { VectorIndexes: _, ...properties },
  ...table
}: TableModel): TableModel {
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } = properties as unknown as Indexes;
  const keys = [KeySchema, ...GlobalSecondaryIndexes.map((index) => index.KeySchema)].flat();
  const names = new Set(keys.map(({ AttributeName }) => AttributeName));
  return {
    ...table,
    properties: {
      ...properties,
      AttributeDefinitions: AttributeDefinitions.filter(({ AttributeName }) => names.has(AttributeName)),
    },
  };
}

function withoutCapacity({ IndexName, KeySchema, Projection }: Index): Index {
  return { IndexName, KeySchema, Projection };
}

/** In CloudFormation a view type enables the stream. The API also needs a flag. */
function streamSettings({ StreamSpecification }: Record<string, unknown>): object {
  return StreamSpecification ? { StreamSpecification: { StreamEnabled: true, ...StreamSpecification } } : {};
}

function keysOf(schema: KeySchema): string {
  return schema.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).join();
}

export function keyNames({ properties }: TableModel): string[] {
  return (properties.KeySchema as KeySchema).map(({ AttributeName }) => AttributeName);
}
