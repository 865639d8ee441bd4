import * as z from 'zod';
import { type Environment, environment } from '../../lib/app/capability.ts';
import { type LimitClass, limitClasses } from '../../lib/app/rules/limits.ts';
import { ApiKeyEntity } from '../../lib/http/entities.ts';
import { isoTime } from '../../lib/shared/isoTime.ts';
import { mailableAddress, MailAddress } from '../../lib/shared/mailAddress.ts';
import { retryOnConflict } from '../../lib/table/retryOnConflict.ts';
import { openTable, replace } from '../../lib/table/table.ts';
import { OwnerEmailEntity } from '../../lib/workspaces/entities.ts';
import { emailKey, ShortName } from '../../lib/workspaces/rules/workspaces.ts';
import { createWorkspaces, withoutUserTokens, WorkspaceReader } from '../../lib/workspaces/workspaces.ts';
import { configuredStack } from '../build/projectContext.ts';
import {
  deploymentOptions,
  localEnvironment,
  parseArguments,
  runCommand,
  stackOutputs,
  unknownApiKey,
} from './operator.ts';

const USAGE = `Usage: npm run workspace -- create <email> [--name <name>]
       npm run workspace -- advanced-webhooks <apiKey> off|on
       npm run workspace -- limits <apiKey> [read=<n>|default] [write=<n>|default] [expensive=<n>|default]
       npm run workspace -- revoke-user-tokens <apiKey>
       npm run workspace -- show <email>|<workspaceId>|<apiKey>

create             Creates a workspace. The owner's address counts as verified, and the API keys never expire. Prints
                   the credentials as JSON. No command shows the workspace auth token again.
advanced-webhooks  Makes advanced webhooks available to an API key (the default), or unavailable. Keeps the
                   configuration. Takes effect within 10 s.
limits             Sets the given limits of an API key in calls per second, and prints all limits. "default" means the
                   setting of the deployment. Takes effect within 10 s.
revoke-user-tokens Ends all user tokens of an API key. Auth tokens stay valid. Calls with the old user tokens fail
                   within 10 s, and live connections end within a minute.
show               Prints the owner and the API keys of a workspace, without credentials.

  --name   the owner's name (default: the e-mail address)
  --stack  the CloudFormation stack (default: the setting stackName, ${configuredStack()}). Not needed if
           TABLE_NAME is set. create also needs MASTER_KEY_SECRET_ARN and SERVICE_NAME then.
  --local  the data directory of npm start, such as .local, instead of a stack
  --help   prints this text`;

const outputNames = {
  TABLE_NAME: 'TableName',
  MASTER_KEY_SECRET_ARN: 'MasterKeySecretArn',
  SERVICE_NAME: 'ServiceName',
} as const;
type Variable = keyof typeof outputNames;
const variables = Object.keys(outputNames) as Variable[];

type Command = (env: Environment) => Promise<object>;

export interface WorkspaceCredentials {
  readonly workspaceId: string;
  readonly workspaceAuthToken: string;
  readonly apiKey: string;
  readonly authToken: string;
}

/**
 * The owner counts as verified, so the API keys never expire. Returns `exists` if the address already has a workspace.
 */
export async function createVerifiedWorkspace(options: {
  email: string;
  name?: string | undefined;
  env: Environment;
  now: number;
}): Promise<WorkspaceCredentials | 'exists'> {
  const { email, name, env, now } = options;
  const verification = { verifiedAt: now, maxWorkspaces: 1 };
  const created = await createWorkspaces.open(env).create({ ownerEmail: email, name }, verification, now);
  if (created === 'full') return 'exists';
  const { workspace, workspaceAuthToken, apiKey, authToken } = created;
  return { workspaceId: workspace.workspaceId, workspaceAuthToken, apiKey: apiKey.apiKey, authToken };
}

type ApiKey = Parameters<typeof ApiKeyEntity.toItem>[0];

async function changeApiKey(
  apiKey: string,
  env: Environment,
  change: (key: ApiKey) => Partial<ApiKey> | undefined,
): Promise<ApiKey> {
  const table = openTable(env);
  return retryOnConflict(async () => {
    const key = await table.get(ApiKeyEntity, { apiKey });
    if (!key) throw unknownApiKey(apiKey);
    const changes = change(key);
    if (!changes) return key;
    const changed = { ...key, ...changes };
    return (await table.write([replace(ApiKeyEntity, changed, key._r)])) === 'done' ? changed : 'conflict';
  });
}

/** Takes effect within 10 s, because functions cache API keys. */
export async function setAdvancedWebhooks(options: {
  apiKey: string;
  offered: boolean;
  env: Environment;
}): Promise<void> {
  await changeApiKey(options.apiKey, options.env, () => ({
    withheld: options.offered ? undefined : ['advancedWebhooks'],
  }));
}

const CallLimit = z
  .string()
  .regex(/^(default|[1-9]\d{0,4}|100000)$/, 'must be a whole number from 1 to 100000, or "default"')
  .transform((text) => (text === 'default' ? text : Number(text)));
const CallLimits = z.strictObject({ read: CallLimit, write: CallLimit, expensive: CallLimit }).partial();

async function setLimits(
  apiKey: string,
  limits: z.output<typeof CallLimits>,
  env: Environment,
): Promise<Record<LimitClass, number | 'default'>> {
  const changed = await changeApiKey(apiKey, env, (key) => {
    if (Object.keys(limits).length === 0) return undefined;
    const numbers = Object.entries({ ...key.limits, ...limits }).filter(([, limit]) => limit !== 'default');
    return { limits: numbers.length > 0 ? Object.fromEntries(numbers) : undefined };
  });
  return Object.fromEntries(
    limitClasses.map((limitClass) => [limitClass, changed.limits?.[limitClass] ?? 'default']),
  ) as Record<LimitClass, number | 'default'>;
}

export interface WorkspaceReport {
  readonly workspaceId: string;
  readonly workspaceName: string;
  /** Set if an address was searched whose owner has further workspaces. */
  readonly otherWorkspaceIds?: readonly string[] | undefined;
  readonly owner: { readonly email: string; readonly name: string; readonly verified: string };
  readonly apiKeys: readonly {
    readonly apiKey: string;
    readonly apiKeyName: string;
    readonly type: string;
    readonly createdAt: string;
    readonly expiresAt: string;
    readonly advancedWebhooks: 'on' | 'off';
  }[];
}

async function findWorkspace(subject: string, env: Environment): Promise<WorkspaceReport | undefined> {
  const table = openTable(env);
  const ownerOrKey = subject.includes('@')
    ? await table.get(OwnerEmailEntity, { email: emailKey(mailableAddress(subject) ?? subject) })
    : await table.get(ApiKeyEntity, { apiKey: subject });
  const stored = await new WorkspaceReader(table).get(ownerOrKey?.workspaceId ?? subject);
  if (!stored) return undefined;
  const {
    workspace: { workspaceId, workspaceName, owner, verifiedAt },
    apiKeys,
  } = stored;
  const keys = await table.getMany(ApiKeyEntity, apiKeys);
  return {
    workspaceId,
    workspaceName,
    otherWorkspaceIds: ownerOrKey && 'otherWorkspaceIds' in ownerOrKey ? ownerOrKey.otherWorkspaceIds : undefined,
    owner: { email: owner.email, name: owner.name, verified: verifiedAt === undefined ? 'no' : isoTime(verifiedAt) },
    apiKeys: apiKeys.map(({ apiKey, apiKeyName, type, createdAt }, index) => {
      const { expiresAt, withheld = [] } = keys[index] ?? {};
      return {
        apiKey,
        apiKeyName,
        type,
        createdAt: isoTime(createdAt),
        expiresAt: expiresAt === undefined ? 'never' : isoTime(expiresAt),
        advancedWebhooks: withheld.includes('advancedWebhooks') ? 'off' : 'on',
      };
    }),
  };
}

export async function run(args: string[], source: NodeJS.ProcessEnv): Promise<string> {
  const { positionals, values } = parseArguments(USAGE, {
    args,
    allowPositionals: true,
    options: { name: { type: 'string' }, ...deploymentOptions },
  });
  const execute = commandOf(positionals, values.name);
  const needs: readonly Variable[] = positionals[0] === 'create' ? variables : ['TABLE_NAME'];
  const env = environment(
    values.local === undefined
      ? await withStackOutputs(source, values.stack, needs)
      : await localEnvironment(values.local),
  );
  return JSON.stringify(await execute(env), null, 2);
}

function commandOf([command, subject, ...more]: string[], name: string | undefined): Command {
  if (subject === undefined || (name !== undefined && command !== 'create')) throw new Error(USAGE);
  if (command === 'limits') return limitsCommand(subject, more);
  if (command === 'advanced-webhooks' && (more[0] === 'on' || more[0] === 'off') && more.length === 1)
    return advancedWebhooksCommand(subject, more[0] === 'on');
  if (command === 'create' && more.length === 0) return createCommand(subject, name);
  if (command === 'show' && more.length === 0) return showCommand(subject);
  if (command === 'revoke-user-tokens' && more.length === 0) return revokeUserTokensCommand(subject);
  throw new Error(USAGE);
}

function limitsCommand(apiKey: string, parameters: readonly string[]): Command {
  const parsed = CallLimits.safeParse(
    Object.fromEntries(parameters.map((argument) => [argument.split('=')[0], argument.split('=').slice(1).join('=')])),
  );
  if (!parsed.success)
    throw new Error(
      `Invalid limits ${parameters.join(' ')}: ${parsed.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')}\n\n${USAGE}`,
    );
  return async (env) => {
    return { apiKey, callsPerSecond: await setLimits(apiKey, parsed.data, env) };
  };
}

function createCommand(address: string, requestedName: string | undefined): Command {
  const email = parseOrThrow(MailAddress, address, 'The e-mail address');
  const name = requestedName === undefined ? undefined : parseOrThrow(ShortName, requestedName, '--name');
  return async (env) => {
    const created = await createVerifiedWorkspace({ email, name, env, now: Date.now() });
    if (created === 'exists') throw new Error(`A workspace already exists for ${email}.`);
    return created;
  };
}

function showCommand(subject: string): Command {
  return async (env) => {
    const workspace = await findWorkspace(subject, env);
    if (!workspace)
      throw new Error(
        `No workspace found: ${subject} is not the address of an owner, not a workspace id and not an API key.`,
      );
    return workspace;
  };
}

function advancedWebhooksCommand(apiKey: string, offered: boolean): Command {
  return async (env) => {
    await setAdvancedWebhooks({ apiKey, offered, env });
    return { apiKey, advancedWebhooks: offered ? 'on' : 'off' };
  };
}

function revokeUserTokensCommand(apiKey: string): Command {
  return async (env) => {
    await changeApiKey(apiKey, env, withoutUserTokens);
    return { apiKey, userTokens: 'revoked' };
  };
}

function parseOrThrow(schema: z.ZodType<string>, value: string, label: string): string {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(
    `${label} ${JSON.stringify(value)} is not valid: ${parsed.error.issues.map(({ message }) => message).join('; ')}\n\n${USAGE}`,
  );
}

async function withStackOutputs(
  source: NodeJS.ProcessEnv,
  stack: string,
  needs: readonly Variable[],
): Promise<NodeJS.ProcessEnv> {
  const missing = needs.filter((name) => !source[name]);
  if (missing.length === 0) return source;
  const outputs = await stackOutputs(stack);
  const fromOutputs = missing.map((name) => {
    const output = outputNames[name];
    const value = outputs.get(output);
    if (!value) throw new Error(`Stack ${stack} has no output ${output}, and ${name} is not set.`);
    return [name, value] as const;
  });
  return { ...source, ...Object.fromEntries(fromOutputs) };
}

if (import.meta.main) await runCommand(USAGE, (args) => run(args, process.env));
