import type * as z from 'zod';

export interface CallOptions {
  /**
   * For 24 hours, a call with the same key and data does not repeat a write that succeeded, also from another process.
   * By default, each write with credentials gets a random key.
   */
  readonly idempotencyKey?: string;
  /** Ends the call and its retries. */
  readonly signal?: AbortSignal;
  /**
   * The browser finishes such a call after the user has left the page, but it is not repeated. Its `data` can have at
   * most 60 KB.
   */
  readonly keepalive?: boolean;
}

interface Typed {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
}

/** Returns the `result` of the answer. Most results have a field `data`. */
export type Method<E extends Typed> = (
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a type without required fields
  ...args: {} extends z.input<E['input']>
    ? [data?: z.input<E['input']>, options?: CallOptions]
    : [data: z.input<E['input']>, options?: CallOptions]
) => Promise<z.output<E['output']>>;
