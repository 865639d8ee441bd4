import type { FunctionModel } from '../assembly/functionModel.ts';
import type { DemoCredentials } from '../demoWorkspace.ts';
import type { Secret } from './secrets.ts';

/**
 * Stores the credentials of the demo workspace in the heartbeat's secret, as an operator would. Does nothing if the run
 * has no heartbeat.
 */
export function storeHeartbeatCredentials(
  functions: readonly FunctionModel[],
  secrets: readonly Secret[],
  { apiKey, authToken }: Pick<DemoCredentials, 'apiKey' | 'authToken'>,
): void {
  const arns = new Set(functions.map(({ environment }) => environment.HEARTBEAT_SECRET_ARN));
  for (const secret of secrets) if (arns.has(secret.arn)) secret.value = JSON.stringify({ apiKey, authToken });
}
