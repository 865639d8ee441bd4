/** Why the system cannot start. `npm start` prints the message without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
