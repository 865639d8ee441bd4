import type { FunctionModel } from '../assembly/functionModel.ts';
import type { DemoCredentials } from '../demoWorkspace.ts';
import type { Secret } from './secrets.ts';

/** Stores the credentials of the demo workspace in the secret of the heartbeat, as an operator does. Does nothing without a heartbeat. */
export function storeHeartbeatCredentials(
  functions: readonly FunctionModel[],
  secrets: readonly Secret[],
  { apiKey, authToken }: Pick<DemoCredentials, 'apiKey' | 'authToken'>,
): void {
  const arns = new Set(functions.map(({ environment }) => environment.HEARTBEAT_SECRET_ARN));
  for (const secret of secrets) if (arns.has(secret.arn)) secret.value = JSON.stringify({ apiKey, authToken });
}
