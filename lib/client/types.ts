import type * as z from 'zod';

export interface CallOptions {
  /** Makes a repetition of this call safe for 24 hours, also from another process. One is made up for every write that names none. */
  readonly idempotencyKey?: string;
  /** Gives the call up, retries included. */
  readonly signal?: AbortSignal;
}

interface Typed {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
}

/** Sends a request and gives what its result holds, `data` among it. */
export type Method<E extends Typed> = (
  ...args: {} extends z.input<E['input']>
    ? [data?: z.input<E['input']>, options?: CallOptions]
    : [data: z.input<E['input']>, options?: CallOptions]
) => Promise<z.output<E['output']>>;
