/** Prints what events and deliveries consume and cost. Takes about 10 s. */
import {
  type DeliveryConsumption,
  deliveryConsumption,
  deliveryDollars,
  deliveryTableDollars,
} from '../../../infra/commands/cost/deliveries.ts';
import { printTable, type Row } from '../report.ts';
import { measureConsumption, type Measured } from './consumption.ts';

interface Aim {
  readonly before: string;
  readonly goal: string;
  readonly isReached: (consumed: DeliveryConsumption) => boolean;
}

/**
 * The targets, and the figures of the first design. The first design stored an item and sent a message for each
 * delivery, and read and wrote each item in its own call.
 */
const aims: Readonly<Partial<Record<keyof Measured, Aim>>> = {
  single: { before: '12 calls', goal: '5 calls', isReached: ({ calls }) => calls <= 5 },
  fifty: { before: '355 calls, $288', goal: '$96', isReached: (consumed) => deliveryDollars(consumed) <= 96 },
  inTens: { before: '$5.59', goal: '$3', isReached: (consumed) => deliveryDollars(consumed) <= 3 },
  alone: { before: '$8.6', goal: '$5', isReached: (consumed) => deliveryDollars(consumed) <= 5 },
  exhausted: { before: '$300', goal: '$8', isReached: (consumed) => deliveryDollars(consumed) <= 8 },
};

const measured = await measureConsumption();
printTable(
  `What events and deliveries consume, and dollars per million by list prices of us-east-1: table, SQS and functions (300 ms if they post, else 30 ms).
Of publishing, only the writes count. A delivery is the difference between an event with it and an event without.`,
  ['what', 'calls', 'read', 'written', 'SQS', 'runs', 'table $', 'all $', 'before', 'goal', 'reached'],
  [
    row('single', 'an event of 2 kB with one delivery, alone'),
    ...Object.entries(deliveryConsumption).map(([name, { label }]) =>
      row(name as keyof typeof deliveryConsumption, label),
    ),
  ],
);
process.exit();

function row(name: keyof Measured, label: string): Row {
  const consumed = measured[name];
  const { calls, read, written, sqs, postingRuns, otherRuns } = consumed;
  const aim = aims[name];
  return [
    label,
    ...[calls, read, written, sqs, postingRuns + otherRuns].map((value) => value.toFixed(1)),
    deliveryTableDollars(consumed).toFixed(2),
    deliveryDollars(consumed).toFixed(2),
    aim?.before ?? '',
    aim?.goal ?? '',
    aim ? (aim.isReached(consumed) ? 'yes' : 'no') : '',
  ];
}
