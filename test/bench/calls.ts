/** Measures the table calls of a warm request of each endpoint, and compares them with the minimum cost of its items. */
import { type Cost, startRecorder } from '../support/capacity.ts';
import { startEngine } from '../support/engine.ts';
import { printTable, ratio, reached, type Row } from './report.ts';
import { endpointAt, exampleRequests, measureExamples, measureScenario, prepare, scenarios } from './scenarios.ts';

type Request = (typeof exampleRequests)[number];

const GOAL_READ = 1.25;
const GOAL_WRITTEN = 1;
const GOAL_ROUND_TRIPS = 2;
const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;

const engine = await startEngine({ sdk: true });
const recorder = await startRecorder();
const measured = await measureExamples(engine, recorder);
const subject = await prepare();
const rows: Row[] = [];
for (const scenario of scenarios) addRow(scenario, await measureScenario(recorder, subject, scenario));
for (const request of exampleRequests) addRow(request, measured.get(request.path)!.cost);
await recorder.stop();
await engine.stop();

printTable(
  `Warm requests: calls of AWS, how many wait for each other, and the units that they consume (credentials aside)
Goal: a read of configuration is 1 call, another read waits at most ${GOAL_ROUND_TRIPS} times; units read at most ${GOAL_READ}×, written at most ${GOAL_WRITTEN}×.
"least": each item read or written whole and on its own. "in one": the same bytes as a single item. What a transaction adds is counted apart.`,
  [
    'request',
    'calls',
    'round trips',
    'reached',
    'read',
    'least',
    'ratio',
    'in one',
    'written',
    'transaction',
    'least',
    'ratio',
    'in one',
    'reached',
  ],
  rows,
);

function addRow(request: Request, cost: Cost): void {
  rows.push([request.name, cost.calls, cost.roundTrips, fewCalls(request, cost), ...units(cost)]);
}

function fewCalls({ path }: Request, { calls, roundTrips }: Cost): string {
  if (endpointAt(path).kind === 'write') return '';
  const configuration = path.startsWith('/v2/workspace/') || path === '/v2/organizations/get';
  return configuration ? reached(calls, 1) : reached(roundTrips, GOAL_ROUND_TRIPS);
}

function units({ readUnits, readFloor, readBytes, writeUnits, transactionUnits, writeFloor, writtenBytes }: Cost): Row {
  const singly = writeUnits - transactionUnits;
  const reads = [readUnits, readFloor, ratio(readUnits, readFloor), Math.ceil(readBytes / READ_UNIT_BYTES)];
  const writes = [
    singly,
    transactionUnits,
    writeFloor,
    ratio(singly, writeFloor),
    Math.ceil(writtenBytes / WRITE_UNIT_BYTES),
  ];
  return [
    ...(readFloor > 0 ? reads : reads.map(() => '')),
    ...(writeFloor > 0 ? writes : writes.map(() => '')),
    readUnits > GOAL_READ * readFloor ? 'no' : reached(singly, GOAL_WRITTEN * writeFloor),
  ];
}
