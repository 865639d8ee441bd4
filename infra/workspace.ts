/** The operator's command, `npm run workspace`: creates workspaces with the operator's own AWS credentials. */
import { parseArgs } from 'node:util';
import type * as z from 'zod';
import { type Environment, environment } from '../lib/capability.ts';
import { createWorkspaces } from '../lib/data/workspaces.ts';
import { OwnerEmail, ShortName } from '../lib/domain/workspaces.ts';

const USAGE = `Usage: npm run workspace -- create <email> [--name <name>] [--stack <stack>]

Creates a workspace for an owner that you vouch for: the address counts as verified and the API keys never expire.
Prints the workspace's credentials as JSON; the workspace auth token is shown this once.

  --name   the owner's name; the e-mail address when left out
  --stack  the CloudFormation stack to create it in, CollaborationBackend when left out; not needed where
           TABLE_NAME, MASTER_KEY_SECRET_ARN, SIGNING_KEY_SECRET_ARN and SERVICE_NAME are set`;

/** The environment variables that creating a workspace needs, and the outputs of the stack that have their values. */
const outputNames = {
  TABLE_NAME: 'TableName',
  MASTER_KEY_SECRET_ARN: 'MasterKeySecretArn',
  SIGNING_KEY_SECRET_ARN: 'SigningKeySecretArn',
  SERVICE_NAME: 'ServiceName',
} as const;

export interface WorkspaceCredentials {
  readonly workspaceId: string;
  readonly workspaceAuthToken: string;
  readonly apiKey: string;
  readonly authToken: string;
}

/**
 * Creates a workspace whose owner the operator vouches for: verified, so that its API keys never expire. `exists` when the
 * address has a workspace already.
 */
export async function createVerifiedWorkspace(options: { email: string; name?: string | undefined; env: Environment; now: number }): Promise<WorkspaceCredentials | 'exists'> {
  const { email, name, env, now } = options;
  const created = await createWorkspaces.open(env).create({ ownerEmail: email, name }, { verifiedAt: now }, now);
  if (created === 'exists') return 'exists';
  const { workspace, workspaceAuthToken, apiKey, authToken } = created;
  return { workspaceId: workspace.workspaceId, workspaceAuthToken, apiKey: apiKey.apiKey, authToken };
}

/** Carries out the command and gives what it prints; throws an error whose message is for the operator. */
export async function run(args: string[], source: NodeJS.ProcessEnv): Promise<string> {
  const { email, name, stack } = readArguments(args);
  const env = environment(await withStackOutputs(source, stack));
  const created = await createVerifiedWorkspace({ email, name, env, now: Date.now() });
  if (created === 'exists') throw new Error(`A workspace already exists for ${email}.`);
  return JSON.stringify(created, null, 2);
}

function readArguments(args: string[]) {
  const { positionals: [command, email, ...rest], values } = parsedArguments(args);
  if (command !== 'create' || email === undefined || rest.length > 0) throw new Error(USAGE);
  return {
    email: checked(OwnerEmail, email, 'The e-mail address'),
    name: values.name === undefined ? undefined : checked(ShortName, values.name, '--name'),
    stack: values.stack,
  };
}

function parsedArguments(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { name: { type: 'string' }, stack: { type: 'string', default: 'CollaborationBackend' } } });
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function checked(schema: z.ZodType<string>, value: string, what: string): string {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`${what} ${JSON.stringify(value)} is not valid: ${parsed.error.issues.map(({ message }) => message).join('; ')}\n\n${USAGE}`);
}

/** The environment variables; those that are not set have their values from the stack's outputs. */
async function withStackOutputs(source: NodeJS.ProcessEnv, stack: string): Promise<NodeJS.ProcessEnv> {
  const missing = Object.entries(outputNames).filter(([name]) => !source[name]);
  if (missing.length === 0) return source;
  const outputs = await stackOutputs(stack);
  const found = missing.map(([name, output]) => {
    const value = outputs.get(output);
    if (!value) throw new Error(`The stack ${stack} has no output ${output}, and ${name} is not set.`);
    return [name, value] as const;
  });
  return { ...source, ...Object.fromEntries(found) };
}

async function stackOutputs(stack: string): Promise<Map<string, string>> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const { Stacks } = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: stack }));
  return new Map(Stacks?.[0]?.Outputs?.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

if (import.meta.main) {
  try {
    console.log(await run(process.argv.slice(2), process.env));
  } catch (error) {
    const { message, name } = error as Error;
    console.error(message || name);
    process.exitCode = 1;
  }
}
