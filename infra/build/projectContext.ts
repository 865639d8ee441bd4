import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from './build.ts';

/** Returns the context of cdk.json. It contains the settings of the deployment, and options of the CDK. */
export function projectContext(): Record<string, unknown> {
  const { context } = JSON.parse(readFileSync(join(projectDir, 'cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  return context;
}
