import { parseJson } from '../../../lib/shared/parseJson.ts';
import type { ConsumedCapacity } from '../metrics/measurements.ts';

const kinds = new Map<string, 'Read' | 'Write'>([
  ...['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems'].map((operation) => [operation, 'Read'] as const),
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'].map(
    (operation) => [operation, 'Write'] as const,
  ),
]);

/** Returns whether an operation consumes read units or write units. Returns undefined if it consumes none. */
export function capacityKind(operation: string): 'Read' | 'Write' | undefined {
  return kinds.get(operation);
}

/** The part of a response with the consumed capacity. */
interface Response {
  readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[];
}

const CAPACITY_PARAMETER = '{"ReturnConsumedCapacity":"INDEXES",';
const CAPACITY_PROPERTY = '"ConsumedCapacity":';

/**
 * Adds the parameter `ReturnConsumedCapacity` to a request. Inserts it at the start of the JSON text, because writing
 * the whole request as JSON again would be slow.
 */
export function addCapacityParameter(body: string): string {
  return CAPACITY_PARAMETER + body.slice(1);
}

/**
 * Returns the consumed capacity in a response, and the body. If `isToBeRemoved` is true, the body is without the
 * consumed capacity.
 *
 * The engine writes the consumed capacity at the end of the JSON text. There it can be cut off without parsing a large
 * response. Anywhere else, the whole response is parsed.
 */
export function extractCapacity(
  body: string,
  isToBeRemoved: boolean,
): { readonly consumed: readonly ConsumedCapacity[]; readonly body: string } {
  const offset = body.lastIndexOf(CAPACITY_PROPERTY);
  if (offset < 0) return { consumed: [], body };
  // The name may also be that of an item's attribute. Then more brackets follow, and the rest of the text is not valid
  // JSON.
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

/** Returns whether `addCapacityParameter` can extend this request. */
export function canAddCapacityParameter(input: Readonly<Record<string, unknown>>, body: string): boolean {
  return input.ReturnConsumedCapacity === undefined && body.startsWith('{') && Object.keys(input).length > 0;
}

/** Returns the consumed capacity multiplied by `share`. */
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
