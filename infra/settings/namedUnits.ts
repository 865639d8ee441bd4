import { familyOf } from '../../lib/app/endpoint.ts';
import { isTwin, type Routed } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';
import type { Settings } from './settings.ts';

/** AWS keeps this number of executions for functions without a reservation. */
const UNRESERVED = 100;
/** The smallest maximum concurrency of an event source mapping of a queue. */
const MIN_OF_QUEUE = 2;

export function isDeployed(settings: Settings): (unit: Routed | Worker) => boolean {
  return (unit) => !('requires' in unit) || settings[unit.requires] === 'on';
}

export function namedUnitProblems(settings: Settings, routes: readonly Routed[], workers: readonly Worker[]): string[] {
  return [...familyProblems(settings, routes), ...concurrencyProblems(settings, workers)];
}

function familyProblems(settings: Settings, routes: readonly Routed[]): string[] {
  const deployed = routes.filter((route) => !isTwin(route)).filter(isDeployed(settings));
  const families = [...new Set(deployed.map(({ path }) => familyOf(path)))].sort();
  const unknown = settings.warmFamilies
    .split(',')
    .filter((name) => name !== '' && name !== 'all' && !families.includes(name));
  if (unknown.length === 0) return [];
  return [`warmFamilies: unknown family ${unknown.join(', ')}. There are ${families.join(', ')}.`];
}

function concurrencyProblems(
  { reservedConcurrency = {}, ...settings }: Settings,
  workers: readonly Worker[],
): string[] {
  const reserved = Object.entries(reservedConcurrency);
  const most = settings.accountConcurrency - UNRESERVED;
  const sum = reserved.reduce((total, [, executions]) => total + executions, 0);
  return [
    ...reserved.flatMap(([name, executions]) => {
      const worker = workers.find((candidate) => candidate.name === name);
      if (!worker) {
        const names = workers.map((candidate) => candidate.name).sort();
        return [`reservedConcurrency: unknown worker ${name}. There are ${names.join(', ')}.`];
      }
      return 'queue' in worker.on && executions < MIN_OF_QUEUE
        ? [
            `reservedConcurrency: must be at least ${MIN_OF_QUEUE} for ${name}, which reads a queue, but is ${executions}`,
          ]
        : [];
    }),
    ...(reserved.length > 0 && sum > most
      ? [
          `reservedConcurrency: must be at most ${Math.max(most, 0)} in all, because Lambda keeps ${UNRESERVED} of accountConcurrency for other functions, but is ${sum}`,
        ]
      : []),
  ];
}
