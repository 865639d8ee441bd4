import type { MetricStore } from './metricStore.ts';

export type MetricSink = Pick<MetricStore, 'add' | 'addLine'>;

export interface ConsumedCapacity {
  readonly TableName: string;
  /** Of the table and its indexes together. */
  readonly CapacityUnits: number;
  readonly Table?: { readonly CapacityUnits: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits: number }>>;
}

export interface QueueLevel {
  readonly visible: number;
  readonly inFlight: number;
  /** The age of the oldest message that is not delayed, or 0. */
  readonly oldestSeconds: number;
}

/** Uses the metric names and dimensions of AWS, by which the dashboard and the alarms find them. */
export class Measurements {
  readonly #sink: MetricSink;
  readonly #apiId: string;

  constructor(sink: MetricSink, apiId: string) {
    this.#sink = sink;
    this.#apiId = apiId;
  }

  recordRequest(status: number, milliseconds: number): void {
    const add = (name: string, value: number) =>
      this.#sink.add({ namespace: 'AWS/ApiGateway', name, dimensions: { ApiId: this.#apiId } }, value);
    add('Count', 1);
    add('4xx', status >= 400 && status < 500 ? 1 : 0);
    add('5xx', status >= 500 ? 1 : 0);
    add('Latency', milliseconds);
  }

  /** As in Lambda, `milliseconds` excludes loading. Undefined if loading failed. */
  recordRun(functionName: string, milliseconds: number | undefined, failed: boolean): void {
    this.#ofFunction(functionName, 'Invocations', 1);
    this.#ofFunction(functionName, 'Errors', failed ? 1 : 0);
    if (milliseconds !== undefined) this.#ofFunction(functionName, 'Duration', milliseconds);
  }

  /** `milliseconds` is the age of the last record in a batch. */
  recordIteratorAge(functionName: string, milliseconds: number): void {
    this.#ofFunction(functionName, 'IteratorAge', milliseconds);
  }

  recordQueueLevel(name: string, { visible, inFlight, oldestSeconds }: QueueLevel): void {
    const add = (metric: string, value: number) =>
      this.#sink.add({ namespace: 'AWS/SQS', name: metric, dimensions: { QueueName: name } }, value);
    add('ApproximateNumberOfMessagesVisible', visible);
    add('ApproximateNumberOfMessagesNotVisible', inFlight);
    add('ApproximateAgeOfOldestMessage', oldestSeconds);
  }

  recordCapacity(
    kind: 'Read' | 'Write',
    { TableName, CapacityUnits, Table, GlobalSecondaryIndexes = {} }: ConsumedCapacity,
  ): void {
    const add = (units: number, index?: string) => {
      const dimensions = index === undefined ? { TableName } : { TableName, GlobalSecondaryIndexName: index };
      this.#sink.add({ namespace: 'AWS/DynamoDB', name: `Consumed${kind}CapacityUnits`, dimensions }, units);
    };
    const [ofTable, ofIndexes] = [Table?.CapacityUnits ?? CapacityUnits, Object.entries(GlobalSecondaryIndexes)];
    // A read of an index consumes no units of the table.
    if (ofTable > 0) add(ofTable);
    for (const [index, { CapacityUnits: units }] of ofIndexes) add(units, index);
  }

  recordLine(line: Readonly<Record<string, unknown>>): void {
    this.#sink.addLine(line);
  }

  /** Like Lambda, also records the metric of all functions, without dimensions. */
  #ofFunction(functionName: string, name: string, value: number): void {
    for (const dimensions of [{ FunctionName: functionName }, {}])
      this.#sink.add({ namespace: 'AWS/Lambda', name, dimensions }, value);
  }
}
