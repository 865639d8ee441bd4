import { environment } from '../../lib/app/capability.ts';
import { openTable } from '../../lib/table/table.ts';

interface TableCall {
  /** Such as `BatchGet`. */
  readonly name: string;
  readonly milliseconds: number;
  readonly capacity: readonly any[];
}

/** Records the calls of the table's client, with the capacity that they consume. `send` makes a call without a record. */
export function recordTableCalls() {
  const { client } = openTable(environment(process.env)).connection;
  const send = client.send.bind(client) as (command: object) => Promise<any>;
  const calls: TableCall[] = [];
  Object.assign(client, {
    async send(command: { input: object }) {
      Object.assign(command.input, { ReturnConsumedCapacity: 'INDEXES' });
      const from = performance.now();
      const answer = await send(command);
      calls.push({
        name: command.constructor.name.replace('Command', ''),
        milliseconds: performance.now() - from,
        capacity: [answer.ConsumedCapacity ?? []].flat(),
      });
      return answer;
    },
  });
  const sumOf = (kind: RegExp, read: (call: TableCall) => number) =>
    calls.reduce((sum, call) => (kind.test(call.name) ? sum + read(call) : sum), 0);
  const units = (kind: RegExp) =>
    sumOf(kind, ({ capacity }) =>
      capacity.reduce((sum: number, { CapacityUnits = 0 }) => sum + Number(CapacityUnits), 0),
    );
  return { client, send, calls, sumOf, units };
}

export const READS = /^(Get|BatchGet|Query)$/;
export const WRITES = /^(Put|Update|Delete|BatchWrite|TransactWrite)$/;
