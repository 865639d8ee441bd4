/** `npm run cdk -- <arguments>` runs the command of the CDK, for example `npm run cdk -- diff`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installTool } from '../tools/installTool.ts';

interface Session {
  /** Whether a person can read the question and answer it. */
  readonly hasTerminal: boolean;
  readonly environment: NodeJS.ProcessEnv;
  /** The content of cdk.json, which can also have options of the CDK CLI. */
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * Returns an error message if a deployment would ask for approval and nobody could answer. The CDK CLI itself fails only
 * after it has uploaded all functions. Returns undefined if an option decides about approval.
 */
export function missingApproval(
  args: readonly string[],
  { hasTerminal, environment, config }: Session,
): string | undefined {
  const isDecided =
    args.some((arg) => /^(-y|-h|--yes|--help|--require-approval)(=.*)?$/.test(arg)) ||
    environment.CDK_REQUIRE_APPROVAL !== undefined ||
    environment.CDK_YES !== undefined ||
    'requireApproval' in config;
  if (args[0] !== 'deploy' || hasTerminal || isDecided) return undefined;
  return [
    'A deployment asks before it changes permissions, but there is no terminal to answer.',
    'Review the changes with `npm run cdk -- diff`. To deploy without the question:',
    '  npm run deploy -- --require-approval never',
  ].join('\n');
}

if (import.meta.main) {
  const config = JSON.parse(await readFile(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as Session['config'];
  // The CDK CLI asks on stdout, and reads the answer from stdin.
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const problem = missingApproval(process.argv.slice(2), { hasTerminal, environment: process.env, config });
  if (problem === undefined) await import(pathToFileURL(join(await installTool('cdk'), 'aws-cdk/bin/cdk')).href);
  else {
    console.error(problem);
    process.exitCode = 1;
  }
}
