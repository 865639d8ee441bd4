/** `npm run cost`: prints what the service costs at list prices. */
import { registeredEndpoints } from '../build/registry.ts';
import { costOfCall, costsOfCalls, startCost, startMilliseconds } from '../cost/calls.ts';
import { vectorConsumption, vectorDollars, vectorGigabytes } from '../cost/vectors.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import { deliveryConsumption, deliveryCost } from './cost/deliveries.ts';
import { floodBill } from './cost/flood.ts';
import { type CostLine, heartbeatBill, idleBill, totalOf } from './cost/idle.ts';
import { liveBill, workday } from './cost/live.ts';
import { mailConsumption, mailCost } from './cost/mails.ts';
import { metricBill } from './cost/metrics.ts';
import { versionCosts } from './cost/versions.ts';
import { watchingBill } from './cost/watching.ts';
import { parseArguments, runCommand } from './operator.ts';
import { sourceTemplates } from './sourceTemplates.ts';
import type { StackTemplates } from './templateChanges.ts';

const USAGE = `Usage: npm run cost [-- --live]

Prints costs at list prices of us-east-1 (infra/cost/prices.ts), without free tiers: a month without calls, a
million calls of each endpoint, a million events, deliveries and mails.

  --live   prints also a workday of 1,000 connected users, and the month with the setting live
  --help   prints this text`;

/** Returns the resources of the stack of this source and of its nested stacks. */
export async function deployedResources(settings: Partial<Settings> = {}): Promise<StackTemplates['resources'][]> {
  const all = ({ resources, nested }: StackTemplates): StackTemplates['resources'][] => [
    resources,
    ...[...nested.values()].flatMap(all),
  ];
  return all(await sourceTemplates(settings));
}

export function costReport(
  templates: readonly StackTemplates['resources'][],
  { live = false }: { live?: boolean } = {},
): string {
  const calls = costsOfCalls(registeredEndpoints());
  const width = Math.max(...calls.map(({ name }) => name.length));
  const bill = (lines: readonly CostLine[]) =>
    lines.map(({ item, count, dollars: sum }) => `${dollars(sum)}  ${item} (${Math.round(count)})`);
  const idle = idleBill(templates);
  const heartbeat = heartbeatBill();
  return [
    'A month without calls, dollars',
    ...bill(idle),
    `${dollars(totalOf(idle))}  total`,
    '',
    'A month with the setting heartbeat, dollars in addition',
    ...bill(heartbeat),
    `${dollars(totalOf(heartbeat))}  total`,
    '',
    'A month in which the service writes its own metrics in each hour, dollars',
    ...bill(metricBill(1)),
    '',
    'An hour of watching the dashboard, dollars',
    ...bill([watchingBill(templates)]),
    '',
    'An hour of refused calls by their number per second, dollars',
    ...bill(floodBill(readSettings(() => undefined))),
    '',
    'A million calls, of which 1 % start an instance, dollars',
    heading(width, ['total', 'gateway', 'lambda', 'starts', 'table', 'vectors', 'queue', 'logs', 'data out']),
    ...calls.map(({ name, total, gateway, lambda, starts, table, vectors, queue, logs, dataOut }) =>
      row(name, width, [total, gateway, lambda, starts, table, vectors, queue, logs, dataOut]),
    ),
    '',
    `If every call starts an instance, a million calls cost ${startCost(1).toFixed(2)} dollars for starts.`,
    '',
    'A read of one item and a start by the memory of the function: milliseconds, and dollars of a million reads',
    heading(8, ['read', 'start', 'lambda', 'total']),
    ...[256, 512, 1_024, 1_769, 3_008].map((memoryMb) => {
      const { milliseconds, lambda, total } = costOfCall(
        'read',
        { roundTrips: 1, read: 0.5, written: 0 },
        { memoryMb },
      );
      return row(`${memoryMb} MB`, 8, [milliseconds, startMilliseconds(memoryMb), lambda, total]);
    }),
    '',
    'A million, dollars',
    heading(0, ['total', 'table', 'queue', 'lambda', 'logs', 'data out']),
    ...Object.values(deliveryConsumption).map(({ label, consumed }) => {
      const { total, table, queue, functions, logs, dataOut } = deliveryCost(consumed);
      return `${row('', 0, [total, table, queue, functions, logs, dataOut])}  ${label}`;
    }),
    '',
    'A million, in addition to their events, dollars',
    heading(0, ['total', 'SES', 'table', 'queue', 'lambda', 'logs', 'data out']),
    ...Object.values(mailConsumption).map(({ label, consumed }) => {
      const { total, ses, table, queue, functions, logs, dataOut } = mailCost(consumed);
      return `${row('', 0, [total, ses, table, queue, functions, logs, dataOut])}  ${label}`;
    }),
    '',
    'A million, dollars',
    ...versionCosts().map(([subject, sum]) => `${dollars(sum)}  ${subject}`),
    '',
    'Vector indexes, in addition to units: gigabytes and dollars of a million requests',
    heading(width, ['written', 'searched', 'dollars']),
    ...Object.entries(vectorConsumption).map(([name, consumed]) => {
      const { written, searched } = vectorGigabytes(consumed);
      return row(name, width, [written, searched, vectorDollars(consumed)]);
    }),
    ...(live ? liveReport(liveBill(workday, calls)) : []),
  ].join('\n');
}

function liveReport(lines: readonly CostLine[]): string[] {
  const { users, hours, usersPerDocument, editsPerSecond, cursorsPerSecond } = workday;
  const total = totalOf(lines);
  const share = (dollars: number) => `${((dollars / total) * 100).toFixed(1)} %`.padStart(7);
  return [
    '',
    `${users} users for ${hours} hours, ${usersPerDocument} in a document, dollars. Each makes ${editsPerSecond} edit and ${cursorsPerSecond} cursor movement per second`,
    ...lines.map(
      ({ item, count, dollars }) =>
        `${dollars.toFixed(2).padStart(8)} ${share(dollars)}  ${item} (${Math.round(count)})`,
    ),
    `${total.toFixed(2).padStart(8)}          total`,
    `${(total / users / hours).toFixed(4).padStart(8)}          per user and hour`,
  ];
}

function dollars(value: number): string {
  return value.toFixed(2).padStart(9);
}

function heading(width: number, names: readonly string[]): string {
  return [''.padEnd(width), ...names.map((name) => name.padStart(9))].join('');
}

function row(name: string, width: number, values: readonly number[]): string {
  return [name.padEnd(width), ...values.map(dollars)].join('');
}

export function costOptions(args: string[]): { live: boolean } {
  const { live } = parseArguments(USAGE, { args, options: { live: { type: 'boolean', default: false } } }).values;
  return { live };
}

if (import.meta.main) {
  await runCommand(USAGE, async (args) => {
    const options = costOptions(args);
    return costReport(await deployedResources({ live: options.live ? 'on' : 'off' }), options);
  });
}
