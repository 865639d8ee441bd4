import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { configuredStack } from '../build/projectContext.ts';

export const deploymentOptions = {
  stack: { type: 'string', default: configuredStack() },
  local: { type: 'string' },
} as const;

export function parseArguments<C extends ParseArgsConfig>(usage: string, config: C): ReturnType<typeof parseArgs<C>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`);
  }
}

export function apiAddress([address, ...more]: readonly string[]): string {
  if (address === undefined || more.length > 0 || !isWebAddress(address))
    throw new Error('Give the address of the API, such as https://api.example.com. --help explains the options.');
  return address;
}

export function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

export function unknownApiKey(apiKey: string): Error {
  return new Error(
    `API key ${apiKey} does not exist. "npm run workspace -- show <email>" lists the API keys of a customer.`,
  );
}

export async function stackOutputs(stack: string): Promise<Map<string, string>> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const { Stacks } = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: stack }));
  return new Map(Stacks?.[0]?.Outputs?.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

/** Returns for example the URL of a queue or the name of an alarm. Throws if the resource does not exist. */
export async function physicalId(stack: string, logicalId: string): Promise<string> {
  const { CloudFormationClient, DescribeStackResourceCommand } = await import('@aws-sdk/client-cloudformation');
  const { StackResourceDetail } = await new CloudFormationClient().send(
    new DescribeStackResourceCommand({ StackName: stack, LogicalResourceId: logicalId }),
  );
  if (!StackResourceDetail?.PhysicalResourceId) throw new Error(`Stack ${stack} has no resource ${logicalId}.`);
  return StackResourceDetail.PhysicalResourceId;
}

/**
 * Adds the environment in `operator.json`, which a local run wrote, to that of this process, because the SDK reads
 * credentials and endpoints there. Returns the environment of this process.
 */
export async function localEnvironment(dataDir: string): Promise<NodeJS.ProcessEnv> {
  const file = join(dataDir, 'operator.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`${file} does not exist. Is ${dataDir} the data directory of npm start?`);
  });
  return Object.assign(process.env, JSON.parse(text) as NodeJS.ProcessEnv);
}

/**
 * Prints the output of a command. If the command throws, prints the message without a stack trace and sets exit code 1.
 */
export async function runCommand(usage: string, execute: (args: string[]) => string | Promise<string>): Promise<void> {
  const args = process.argv.slice(2);
  try {
    console.log(args.includes('--help') ? usage : await execute(args));
  } catch (error) {
    console.error(explanation(error as Error));
    process.exitCode = 1;
  }
}

/** For frequent errors of the SDK, returns what the operator can do, otherwise the message. */
export function explanation(error: Error): string {
  const { name, message } = error;
  if (message === 'Region is missing')
    return 'No AWS region found. Set AWS_REGION, or set AWS_PROFILE to a profile with a region.';
  if (name === 'CredentialsProviderError')
    return `No AWS credentials found. Set AWS_PROFILE to a profile with credentials, and log in if it requires that. (${message})`;
  if (/^Stack with id .* does not exist$/.test(message))
    return `${message} in this region. Set AWS_REGION to the region of the stack, or name another stack with --stack.`;
  if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED')
    return `${message}. Either the local run of --local has ended: start it again with npm start. Or its queues are stopped: start them on /_local/dashboard.`;
  return messageOf(error);
}

/** Adds the cause, such as `ECONNREFUSED`, which the message of `fetch` does not name. */
export function messageOf({ name, message, cause }: Error): string {
  if (!(cause instanceof Error)) return message || name;
  let root = cause;
  while (root.cause instanceof Error) root = root.cause;
  return `${message} (${(root as NodeJS.ErrnoException).code ?? root.message})`;
}
