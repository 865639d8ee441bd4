import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import {
  CloudFormationValidatePlugin,
  type IPolicyValidationContext,
  type PolicyValidationPluginReport,
} from 'aws-cdk-lib/core';

/**
 * The options of Node for a process that checks templates. Optimizing the WebAssembly, and threads for garbage
 * collection, cost more time than they save in so short a process.
 */
export const validationOptions = ['--liftoff-only', '--single-threaded-gc'];

/**
 * Checks templates as the CDK's own plugin does, but in another process. The plugin is WebAssembly, and each growth of
 * its memory makes V8 collect garbage in the whole process: in a worker of Jest, that takes several times as long as
 * the check.
 */
export class ProcessValidatePlugin extends CloudFormationValidatePlugin {
  /** Not the version of the CDK's plugin, because reading that would load the WebAssembly. */
  override get version(): string {
    return 'process';
  }

  override validate({
    stackTemplates,
  }: Pick<IPolicyValidationContext, 'stackTemplates'>): PolicyValidationPluginReport {
    const program = join(import.meta.dirname, 'validateProcess.ts');
    const report = execFileSync(process.execPath, [...validationOptions, program], {
      input: JSON.stringify(stackTemplates),
      encoding: 'utf8',
      maxBuffer: 100_000_000,
    });
    return JSON.parse(report);
  }
}
