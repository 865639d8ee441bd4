import { lambdaDollars, MILLION, prices as list, tableDollars } from '../../../infra/commands/cost/prices.ts';

/** List prices, dollars per million. */
export const prices = { written: list.tableWritten, read: list.tableRead, sqsRequests: list.queueRequests } as const;

/** The cost of the functions per million deliveries of 300 ms, with ten deliveries per invocation. */
export const FUNCTIONS_PER_MILLION = Number(lambdaDollars(MILLION / 10, 300).toFixed(2));

/** Returns the table cost in dollars of a million times these units. */
export function dollarsPerMillion({ read, written }: { readonly read: number; readonly written: number }): number {
  return tableDollars({ read: read * MILLION, written: written * MILLION });
}
