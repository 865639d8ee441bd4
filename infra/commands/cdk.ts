/** `npm run cdk -- <arguments>` runs the command of the CDK, for example `npm run cdk -- diff`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { contextFromArguments, requireValidSettings } from '../build/checkSettings.ts';
import { deploymentRegion } from '../build/projectContext.ts';
import { installTool } from '../tools/installTool.ts';

interface Session {
  readonly hasTerminal: boolean;
  readonly environment: NodeJS.ProcessEnv;
  /** The content of cdk.json. */
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * For `deploy` without a terminal, returns an error message unless the arguments, the environment or cdk.json decide
 * about approval. The CDK CLI would fail only after it has uploaded all functions.
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

/** These commands can run the app, so its settings are checked before the CDK CLI loads. */
const appCommands = new Set(['bootstrap', 'deploy', 'destroy', 'diff', 'import', 'list', 'ls', 'synth', 'synthesize']);

async function invalidSettings(
  args: readonly string[],
  { config }: Pick<Session, 'config'>,
): Promise<string | undefined> {
  if (!args.some((arg) => appCommands.has(arg)) || args.some((arg) => /^(-h|--help|-a|--app)/.test(arg)))
    return undefined;
  const context = { ...(config.context as Record<string, unknown>), ...contextFromArguments(args) };
  return requireValidSettings(context, deploymentRegion()).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  const config = JSON.parse(await readFile(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as Session['config'];
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const problem =
    missingApproval(args, { hasTerminal, environment: process.env, config }) ??
    (await invalidSettings(args, { config }));
  if (problem === undefined) await import(pathToFileURL(join(await installTool('cdk'), 'aws-cdk/bin/cdk')).href);
  else {
    console.error(problem);
    process.exitCode = 1;
  }
}
