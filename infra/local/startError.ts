/** An error that says why the system cannot start. `npm start` prints its message without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
