/** What one call consumed of one table, as DynamoDB reports it. */
export interface Consumed {
  readonly TableName: string;
  /** Of the table and its indexes together. */
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

/** Which units an operation consumes; undefined when none. */
export function kindOfCapacity(operation: string): 'Read' | 'Write' | undefined {
  return kinds.get(operation);
}

const ASKED = Buffer.from('{"ReturnConsumedCapacity":"INDEXES",');
const NAME = Buffer.from('"ConsumedCapacity":');
const [OPENING, COMMA, CLOSING] = [0x7b, 0x2c, 0x7d];

/** The same request, asking for what it consumes. It is put before the rest, which may be large, instead of writing all of it anew. */
export function askForCapacity(body: Buffer): Buffer {
  return Buffer.concat([ASKED, body.subarray(1)]);
}

/**
 * Finds what was consumed in an answer, and where the caller has not asked for it takes it out. The engine writes it last, where it is
 * found from the end, however large the answer, and cut off in place; elsewhere all of it has to be read.
 */
export function takeCapacity(
  body: Buffer,
  isToBeRemoved: boolean,
): { readonly consumed: readonly Consumed[]; readonly body: Buffer } {
  const at = body.lastIndexOf(NAME);
  if (at < 0) return { consumed: [], body };
  // An attribute of this name in an item is followed by more closing brackets than this opens.
  const end = parsed(`{${body.toString('utf8', at)}`);
  const isLast = end?.ConsumedCapacity !== undefined && Object.keys(end).length === 1;
  const { ConsumedCapacity, ...rest } = (isLast ? end : parsed(body.toString())) ?? {};
  if (!ConsumedCapacity) return { consumed: [], body };
  const consumed = [ConsumedCapacity].flat();
  if (!isToBeRemoved) return { consumed, body };
  return {
    consumed,
    body: isLast ? cut(body, body[at - 1] === COMMA ? at - 1 : at) : Buffer.from(JSON.stringify(rest)),
  };
}

/** The object that ends here, in the same memory. */
function cut(body: Buffer, end: number): Buffer {
  body[end] = CLOSING;
  return body.subarray(0, end + 1);
}

function parsed(text: string): { readonly ConsumedCapacity?: Consumed | readonly Consumed[] } | undefined {
  try {
    return JSON.parse(text) as { ConsumedCapacity?: Consumed | readonly Consumed[] };
  } catch {
    return undefined;
  }
}

/** Whether a request is one that `askForCapacity` can ask for. */
export function canAsk(input: Readonly<Record<string, unknown>>, body: Buffer): boolean {
  return input.ReturnConsumedCapacity === undefined && body[0] === OPENING && Object.keys(input).length > 0;
}
