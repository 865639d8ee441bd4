/** A reason why the system cannot start. Its message is shown without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
