/** `npm run cost`: prints the costs of a deployment without calls, and the costs of calls and deliveries, at list prices. */
import { costsOfCalls } from './cost/calls.ts';
import { deliveryConsumption, deliveryDollars } from './cost/deliveries.ts';
import { type CostLine, idleBill, totalOf } from './cost/idle.ts';
import { liveBill, workday } from './cost/live.ts';
import { sourceTemplates } from './sourceTemplates.ts';
import { registeredEndpoints } from '../build/registry.ts';
import type { StackTemplates } from './templateChanges.ts';

const USAGE = `Usage: npm run cost [-- --live | --help]

Prints costs at list prices of us-east-1 (infra/commands/cost/prices.ts), without free tiers: a month without calls, a
million calls of each endpoint, a million events and a million deliveries. With --live: also a workday of 1,000 connected
users, and the month with the setting live.`;

/** Returns the resources of the root stack and of every nested stack, with or without the push service. */
export async function deployedResources({ live = false } = {}): Promise<StackTemplates['resources'][]> {
  const all = ({ resources, nested }: StackTemplates): StackTemplates['resources'][] => [
    resources,
    ...[...nested.values()].flatMap(all),
  ];
  return all(await sourceTemplates({ live: live ? 'on' : 'off' }));
}

function report(templates: readonly StackTemplates['resources'][], { live }: { live: boolean }): string {
  const idle = idleBill(templates);
  const calls = costsOfCalls(registeredEndpoints());
  const dollars = (value: number) => value.toFixed(2).padStart(8);
  const width = Math.max(...calls.map(({ name }) => name.length));
  return [
    'A month without calls, dollars',
    ...idle.map(({ item, count, dollars: sum }) => `${dollars(sum)}  ${item} (${Math.round(count)})`),
    `${dollars(totalOf(idle))}  total`,
    '',
    'A million warm calls, dollars',
    [''.padEnd(width), '   total', ' gateway', '  lambda', '   table', '   queue', '    logs'].join(''),
    ...calls.map(({ name, total, gateway, lambda, table, queue, logs }) =>
      [name.padEnd(width), ...[total, gateway, lambda, table, queue, logs].map(dollars)].join(''),
    ),
    '',
    'A million, dollars',
    ...Object.values(deliveryConsumption).map(
      ({ label, consumed }) => `${dollars(deliveryDollars(consumed))}  ${label}`,
    ),
    ...(live ? liveReport(liveBill(workday, calls)) : []),
  ].join('\n');
}

/** Returns the lines about connected users. */
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

if (import.meta.main) {
  const [option] = process.argv.slice(2);
  const live = option === '--live';
  console.log(option !== undefined && !live ? USAGE : report(await deployedResources({ live }), { live }));
}
