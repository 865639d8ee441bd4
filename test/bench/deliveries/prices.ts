import { lambdaDollars, MILLION, prices as list, tableDollars } from '../../../infra/commands/cost/prices.ts';

/** List prices, dollars per million. */
export const prices = { written: list.tableWritten, read: list.tableRead, sqsRequests: list.queueRequests } as const;

/** What the functions cost per million deliveries of 300 ms, ten at a time in one run (deliveries 2.5). */
export const FUNCTIONS_PER_MILLION = Number(lambdaDollars(MILLION / 10, 300).toFixed(2));

/** What the table asks for these units, a million times over, in dollars. */
export function dollarsPerMillion({ read, written }: { readonly read: number; readonly written: number }): number {
  return tableDollars({ read: read * MILLION, written: written * MILLION });
}
