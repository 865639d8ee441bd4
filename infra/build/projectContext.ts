import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stackOf } from '../settings/settings.ts';

export function projectContext(): Record<string, unknown> {
  const { context } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  return context;
}

export const configuredStack = (): string => stackOf(projectContext());

/** The CDK CLI sets `CDK_DEFAULT_REGION` for `infra/app.ts`. */
export function deploymentRegion(): string | undefined {
  const { CDK_DEFAULT_REGION, AWS_REGION } = process.env;
  return [CDK_DEFAULT_REGION, AWS_REGION].find(Boolean);
}
