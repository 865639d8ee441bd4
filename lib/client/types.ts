import type * as z from 'zod';

export interface CallOptions {
  /** Makes repetitions of this call safe for 24 hours, also from another process. Every write without one gets a random key. */
  readonly idempotencyKey?: string;
  /** Ends the call with its retries. */
  readonly signal?: AbortSignal;
}

interface Typed {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
}

/** Sends a request and returns its result, with `data` among its fields. */
export type Method<E extends Typed> = (
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a type without required fields
  ...args: {} extends z.input<E['input']>
    ? [data?: z.input<E['input']>, options?: CallOptions]
    : [data: z.input<E['input']>, options?: CallOptions]
) => Promise<z.output<E['output']>>;
