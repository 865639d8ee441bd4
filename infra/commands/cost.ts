/** `npm run cost`: prints the costs of a deployment without calls, and the costs of calls and deliveries, at list prices. */
import { costsOfCalls } from './cost/calls.ts';
import { deliveryConsumption, deliveryDollars } from './cost/deliveries.ts';
import { idleBill, totalOf } from './cost/idle.ts';
import { sourceTemplates } from './sourceTemplates.ts';
import { registeredEndpoints } from '../build/registry.ts';
import type { StackTemplates } from './templateChanges.ts';

const USAGE = `Usage: npm run cost [-- --help]

Prints costs at list prices of us-east-1 (infra/commands/cost/prices.ts), without free tiers: a month without calls, a
million calls of each endpoint, a million events and a million deliveries.`;

/** Returns the resources of the root stack and of every nested stack. */
export async function deployedResources(): Promise<StackTemplates['resources'][]> {
  const all = ({ resources, nested }: StackTemplates): StackTemplates['resources'][] => [
    resources,
    ...[...nested.values()].flatMap(all),
  ];
  return all(await sourceTemplates());
}

function report(templates: readonly StackTemplates['resources'][]): string {
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
    ...Object.values(deliveryConsumption).map(({ what, consumed }) => `${dollars(deliveryDollars(consumed))}  ${what}`),
  ].join('\n');
}

if (import.meta.main) {
  console.log(process.argv.length > 2 ? USAGE : report(await deployedResources()));
}
