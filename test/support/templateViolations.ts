import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { PolicyValidationPluginReport, PolicyValidationStack } from 'aws-cdk-lib/core';

/**
 * The options of Node for a process that checks templates. Optimizing the WebAssembly, and threads for garbage
 * collection, cost more time than they save in so short a process.
 */
export const validationOptions = ['--liftoff-only', '--single-threaded-gc'];

/**
 * Checks templates against CloudFormation's schemas as the CDK's own plugin does, but in another process. The plugin is
 * WebAssembly, and each growth of its memory makes V8 collect garbage in the whole process: in a worker of Jest, that
 * takes several times as long as the check.
 */
export function templateViolations(paths: readonly string[]): PolicyValidationPluginReport['violations'] {
  const stacks = paths.map((templatePath): PolicyValidationStack => ({
    stackConstructPath: 'Stack',
    templatePath,
    accountId: '123456789012',
    region: 'eu-central-1',
  }));
  const report = execFileSync(
    process.execPath,
    [...validationOptions, join(import.meta.dirname, 'validateProcess.ts')],
    { input: JSON.stringify(stacks), encoding: 'utf8', maxBuffer: 100_000_000 },
  );
  return (JSON.parse(report) as PolicyValidationPluginReport).violations;
}
