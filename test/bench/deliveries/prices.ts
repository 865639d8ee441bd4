/** List prices of us-east-1, dollars per million. */
export const prices = { written: 0.625, read: 0.125, sqsRequests: 0.4 } as const;

/** What the functions cost per million deliveries of 300 ms, ten at a time in one run (deliveries 2.5). */
export const FUNCTIONS_PER_MILLION = 0.21;

/** What the table asks for these units, a million times over, in dollars. */
export function dollarsPerMillion({ read, written }: { readonly read: number; readonly written: number }): number {
  return read * prices.read + written * prices.written;
}
