import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stackOf } from '../settings/settings.ts';

/** Returns the context of cdk.json. It contains the settings of the deployment, and options of the CDK. */
export function projectContext(): Record<string, unknown> {
  const { context } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  return context;
}

/** Returns the name of the stack that cdk.json configures. */
export const configuredStack = (): string => stackOf(projectContext());

/** Returns the region of the deployment, if it is known. The CDK CLI sets the first variable for `infra/app.ts`. */
export function deploymentRegion(): string | undefined {
  const { CDK_DEFAULT_REGION, AWS_REGION } = process.env;
  return [CDK_DEFAULT_REGION, AWS_REGION].find(Boolean);
}
