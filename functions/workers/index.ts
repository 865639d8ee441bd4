/**
 * The registry of workers: one line per worker, as in `export { worker as sweep } from './sweep.ts';`. The stack and the tests read
 * it; a deployed function never does.
 */
export { worker as sendEmail } from './sendEmail.ts';
