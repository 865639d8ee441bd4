import { parseJson } from '../../../lib/shared/parseJson.ts';
import type { ConsumedCapacity } from '../metrics/measurements.ts';

const kinds = new Map<string, 'Read' | 'Write'>([
  ...['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems'].map((operation) => [operation, 'Read'] as const),
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'].map(
    (operation) => [operation, 'Write'] as const,
  ),
]);

export function capacityKind(operation: string): 'Read' | 'Write' | undefined {
  return kinds.get(operation);
}

interface Response {
  readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[];
}

const CAPACITY_PARAMETER = '{"ReturnConsumedCapacity":"INDEXES",';
const CAPACITY_PROPERTY = '"ConsumedCapacity":';

/** Inserts the parameter into the JSON text. Writing the whole request again would be slow. */
export function addCapacityParameter(body: string): string {
  return CAPACITY_PARAMETER + body.slice(1);
}

/**
 * Returns the consumed capacity and the body, which lacks the capacity if `isToBeRemoved`. If the capacity is at the
 * end of the body, it is cut off without parsing a large response.
 */
export function extractCapacity(
  body: string,
  isToBeRemoved: boolean,
): { readonly consumed: readonly ConsumedCapacity[]; readonly body: string } {
  const offset = body.lastIndexOf(CAPACITY_PROPERTY);
  if (offset < 0) return { consumed: [], body };
  // If the name found is in an item, the rest of the text is not valid JSON.
  const end = parseJson(`{${body.slice(offset)}`) as Response | undefined;
  const isLast = end?.ConsumedCapacity !== undefined && Object.keys(end).length === 1;
  const { ConsumedCapacity, ...bodyWithoutCapacity } = (isLast ? end : (parseJson(body) as Response | undefined)) ?? {};
  if (!ConsumedCapacity) return { consumed: [], body };
  const consumed = [ConsumedCapacity].flat();
  if (!isToBeRemoved) return { consumed, body };
  return {
    consumed,
    body: isLast
      ? `${body.slice(0, body[offset - 1] === ',' ? offset - 1 : offset)}}`
      : JSON.stringify(bodyWithoutCapacity),
  };
}

export function canAddCapacityParameter(input: Readonly<Record<string, unknown>>, body: string): boolean {
  return input.ReturnConsumedCapacity === undefined && body.startsWith('{') && Object.keys(input).length > 0;
}

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
