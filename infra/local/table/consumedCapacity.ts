/** The capacity that a call consumed of a table, as DynamoDB reports it. */
export interface ConsumedCapacity {
  readonly TableName: string;
  /** Sum of the table and its indexes. */
  readonly CapacityUnits: number;
  readonly Table?: { readonly CapacityUnits: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits: number }>>;
}

const kinds = new Map<string, 'Read' | 'Write'>([
  ...['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems'].map((operation) => [operation, 'Read'] as const),
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'].map(
    (operation) => [operation, 'Write'] as const,
  ),
]);

/** Returns which kind of units an operation consumes, or undefined for none. */
export function capacityKind(operation: string): 'Read' | 'Write' | undefined {
  return kinds.get(operation);
}

const ASKED = '{"ReturnConsumedCapacity":"INDEXES",';
const NAME = '"ConsumedCapacity":';

/**
 * Adds the parameter that asks for consumed capacity. Inserts it at the start of the JSON text, because serialising a
 * large request again would be slow.
 */
export function askForCapacity(body: string): string {
  return ASKED + body.slice(1);
}

/**
 * Returns the consumed capacity in a response, and removes it if the caller did not ask for it. The engine writes it at
 * the end of the JSON text. There it is found and cut off without parsing a large response. Otherwise the whole
 * response is parsed.
 */
export function takeCapacity(
  body: string,
  isToBeRemoved: boolean,
): { readonly consumed: readonly ConsumedCapacity[]; readonly body: string } {
  const at = body.lastIndexOf(NAME);
  if (at < 0) return { consumed: [], body };
  // An attribute of this name inside an item is followed by more closing brackets, so it does not parse.
  const end = parsed(`{${body.slice(at)}`);
  const isLast = end?.ConsumedCapacity !== undefined && Object.keys(end).length === 1;
  const { ConsumedCapacity, ...rest } = (isLast ? end : parsed(body)) ?? {};
  if (!ConsumedCapacity) return { consumed: [], body };
  const consumed = [ConsumedCapacity].flat();
  if (!isToBeRemoved) return { consumed, body };
  return {
    consumed,
    body: isLast ? `${body.slice(0, body[at - 1] === ',' ? at - 1 : at)}}` : JSON.stringify(rest),
  };
}

function parsed(
  text: string,
): { readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[] } | undefined {
  try {
    return JSON.parse(text) as { ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[] };
  } catch {
    return undefined;
  }
}

/** Returns whether `askForCapacity` can extend the request. */
export function canAskForCapacity(input: Readonly<Record<string, unknown>>, body: string): boolean {
  return input.ReturnConsumedCapacity === undefined && body.startsWith('{') && Object.keys(input).length > 0;
}

/** Returns a part of the capacity. */
export function scaledCapacity(capacity: ConsumedCapacity, share: number): ConsumedCapacity {
  if (share === 1) return capacity;
  const scaled = ({ CapacityUnits }: { readonly CapacityUnits: number }) => ({ CapacityUnits: CapacityUnits * share });
  const { TableName, Table, GlobalSecondaryIndexes } = capacity;
  return {
    TableName,
    ...scaled(capacity),
    ...(Table && { Table: scaled(Table) }),
    ...(GlobalSecondaryIndexes && {
      GlobalSecondaryIndexes: Object.fromEntries(
        Object.entries(GlobalSecondaryIndexes).map(([index, units]) => [index, scaled(units)]),
      ),
    }),
  };
}
