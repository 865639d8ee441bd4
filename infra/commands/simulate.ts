/**
 * `npm run simulate`: prints which limits a load exceeds, and what the load costs. It computes a model and sends no
 * calls.
 */
import { queues } from '../../lib/workers/queues.ts';
import { registeredEndpoints } from '../build/registry.ts';
import { readSettings } from '../settings/settings.ts';
import { columns } from './columns.ts';
import { costsOfMix } from './load/mix.ts';
import { parseArguments, runCommand } from './operator.ts';
import { type Component, componentsOf, fullAt } from './simulate/components.ts';
import {
  assumptions,
  concurrencyAt,
  credentialReadShare,
  dollarsPerMillion,
  dollarsPerMonth,
  keysAboveLimits,
  pushDollarsPerMonth,
  replicaDollarsPerMonth,
  type Workload,
  zipfShares,
} from './simulate/rules.ts';

const USAGE = `Usage: npm run simulate

Prints, for three loads on paper, the price and the components that are full, and for each component its use and the load that
fills it. Section "Large loads" of infra/README.md explains the model.`;

const LOADS = [10, 1_000, 100_000] as const;

const MIN_SHARE = 0.001;

type Rows = readonly (readonly string[])[];

/** Returns the call mix of `npm run load`, the default settings, and a million API keys. */
export function defaultWorkload(): Workload {
  const { requestsPerSecond, readsPerSecondPerKey, writesPerSecondPerKey } = readSettings(() => undefined);
  return {
    calls: costsOfMix(registeredEndpoints()),
    limits: {
      requestsPerSecond,
      readsPerSecondPerKey,
      writesPerSecondPerKey,
      deliverConcurrency: queues.deliver.maxConcurrency,
      mailConcurrency: queues.mail.maxConcurrency,
    },
    tenantShares: zipfShares(assumptions.tenants),
  };
}

export function simulatedLoads(workload: Workload): Rows {
  const components = ordered(componentsOf(workload)).filter(({ when }) => when === 'steady');
  const row = (name: string, cell: (load: number) => string) => [name, ...LOADS.map(cell)];
  const isFull = (load: number) => components.filter((component) => component.full < load);
  return [
    ['Requests per second', ...LOADS.map(integer)],
    row('dollars per month', (load) => integer(dollarsPerMonth(workload, load))),
    row('dollars per million requests', (load) => dollarsPerMillion(workload, load).toFixed(2)),
    row('dollars per month more for pushes, with the setting `live`', (load) =>
      integer(pushDollarsPerMonth(workload, load)),
    ),
    row('dollars per month more for a second region of the table', (load) =>
      integer(replicaDollarsPerMonth(workload, load)),
    ),
    row('concurrent executions', (load) => significant(concurrencyAt(workload, load))),
    row('full first', (load) => isFull(load)[0]?.name ?? 'nothing'),
    row('full components', (load) => integer(isFull(load).length)),
    row('requests per second of the largest API key', (load) => significant(load * (workload.tenantShares[0] ?? 0))),
    row('API keys above their limits', (load) => integer(keysAboveLimits(workload, load).keys)),
    row('requests above the limits of API keys', (load) => percent(keysAboveLimits(workload, load).rejected)),
    row('requests that read credentials from the table', (load) => percent(credentialReadShare(workload, load))),
  ];
}

/** Components that are full at smaller loads come first. All components after a jump come last. */
export function simulatedComponents(workload: Workload): Rows {
  return [
    ['Component', 'Limit', ...LOADS.map((load) => `at ${integer(load)}/s`), 'Full at requests/s', 'To raise the limit'],
    ...ordered(componentsOf(workload)).map(({ name, limit, when, use, full, remedy }) => [
      when === 'jump' ? `${name}, after a jump` : name,
      limit === undefined || limit === 1 ? '' : integer(limit),
      ...LOADS.map((load) => (limit === undefined ? `${significant(use(load))}/s` : percent(use(load) / limit))),
      limit === undefined ? '' : full === Infinity ? 'never' : integer(Number(full.toPrecision(3))),
      remedy,
    ]),
  ];
}

function ordered(components: readonly Component[]): (Component & { readonly full: number })[] {
  return components
    .map((component) => ({ ...component, full: fullAt(component) }))
    .sort((a, b) => compare(a.when === 'jump' ? 1 : 0, b.when === 'jump' ? 1 : 0) || compare(a.full, b.full));
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

function integer(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function significant(value: number): string {
  return value >= 100 ? integer(value) : String(Number(value.toPrecision(2)));
}

function percent(part: number): string {
  return part > 0 && part < MIN_SHARE ? `< ${MIN_SHARE * 100} %` : `${significant(part * 100)} %`;
}

if (import.meta.main) {
  await runCommand(USAGE, (args) => {
    parseArguments(USAGE, { args });
    const workload = defaultWorkload();
    return columns([...simulatedLoads(workload), [], ...simulatedComponents(workload)]).replaceAll('`', '');
  });
}
