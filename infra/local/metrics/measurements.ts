import type { Consumed } from '../table/consumedCapacity.ts';
import type { MetricStore } from './metricStore.ts';
import type { QueueLevel } from '../queues/queueStore.ts';

/** What takes measurements. */
export type MetricSink = Pick<MetricStore, 'add' | 'addLine'>;

/**
 * What happens in the local run, measured under the names and dimensions that AWS has for it, so that the dashboard and the alarms of
 * the template find it. Where AWS also counts what did not happen, so does this: the graph has a line at zero then.
 */
export class Measurements {
  readonly #sink: MetricSink;
  readonly #apiId: string;

  constructor(sink: MetricSink, apiId: string) {
    this.#sink = sink;
    this.#apiId = apiId;
  }

  /** The API has answered a request. */
  request(status: number, milliseconds: number): void {
    const add = (name: string, value: number) =>
      this.#sink.add({ namespace: 'AWS/ApiGateway', name, dimensions: { ApiId: this.#apiId } }, value);
    add('Count', 1);
    add('4xx', status >= 400 && status < 500 ? 1 : 0);
    add('5xx', status >= 500 ? 1 : 0);
    add('Latency', milliseconds);
  }

  /** A function has run, in vain if it gave no answer. As in Lambda, the time in which it was loaded does not count; undefined when it could not be loaded. */
  run(functionName: string, milliseconds: number | undefined, failed: boolean): void {
    this.#ofFunction(functionName, 'Invocations', 1);
    this.#ofFunction(functionName, 'Errors', failed ? 1 : 0);
    if (milliseconds !== undefined) this.#ofFunction(functionName, 'Duration', milliseconds);
  }

  /** A function is given records of a stream, the last of which is so old. */
  iteratorAge(functionName: string, milliseconds: number): void {
    this.#ofFunction(functionName, 'IteratorAge', milliseconds);
  }

  /** What lies in a queue now. */
  queue(name: string, { visible, inFlight, oldestSeconds }: QueueLevel): void {
    const add = (metric: string, value: number) =>
      this.#sink.add({ namespace: 'AWS/SQS', name: metric, dimensions: { QueueName: name } }, value);
    add('ApproximateNumberOfMessagesVisible', visible);
    add('ApproximateNumberOfMessagesNotVisible', inFlight);
    add('ApproximateAgeOfOldestMessage', oldestSeconds);
  }

  /** What a call has consumed of a table and its indexes. */
  consumed(kind: 'Read' | 'Write', { TableName, CapacityUnits, Table, GlobalSecondaryIndexes = {} }: Consumed): void {
    const add = (units: number, index?: string) => {
      const dimensions = index === undefined ? { TableName } : { TableName, GlobalSecondaryIndexName: index };
      this.#sink.add({ namespace: 'AWS/DynamoDB', name: `Consumed${kind}CapacityUnits`, dimensions }, units);
    };
    const [ofTable, ofIndexes] = [Table?.CapacityUnits ?? CapacityUnits, Object.entries(GlobalSecondaryIndexes)];
    // A read of an index consumes nothing of the table.
    if (ofTable > 0) add(ofTable);
    for (const [index, { CapacityUnits: units }] of ofIndexes) add(units, index);
  }

  /** A line that a function wrote, which may hold metrics of its own. */
  line(line: Readonly<Record<string, unknown>>): void {
    this.#sink.addLine(line);
  }

  #ofFunction(functionName: string, name: string, value: number): void {
    this.#sink.add({ namespace: 'AWS/Lambda', name, dimensions: { FunctionName: functionName } }, value);
  }
}
