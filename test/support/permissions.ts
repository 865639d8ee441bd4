import { AsyncLocalStorage } from 'node:async_hooks';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { iamAction } from '../../infra/constructs/environment.ts';
import type { Access } from '../../infra/local/iam/awsService.ts';
import { isAllowed, type Statement } from '../../infra/local/iam/iam.ts';
import { queueArn, tableArn } from '../../infra/local/iam/identity.ts';
import { mailIdentityArn, sesAccesses } from '../../infra/local/mail/ses.ts';
import { queueName, sqsAccesses } from '../../infra/local/queues/sqs.ts';
import { dynamoDbAccesses } from '../../infra/local/table/dynamoDbAccess.ts';
import {
  type Capability,
  type LocalVariable,
  mergeGrants,
  type ResourceName,
  type RuntimeVariable,
} from '../../lib/app/capability.ts';
import { lazy } from '../../lib/shared/lazy.ts';
import { operationOf } from '../../lib/table/documentClient.ts';
import { queueVariable } from '../../lib/workers/queues.ts';
import { activeSimulation, type ServiceCall } from './simulation.ts';

/** Runs the work of a function with the permissions of the function's role. */
export type RunWithRole = <T>(work: () => Promise<T>) => Promise<T>;

type Variables = Readonly<Record<string, string | undefined>>;

interface RunningFunction {
  readonly name: string;
  readonly statements: () => readonly Statement[];
}

const running = new AsyncLocalStorage<RunningFunction>();
const refusals = new Set<string>();

/**
 * Returns a runner for the work of a function. An AWS call fails, as in a deployment, if no grant of the capabilities allows it. The
 * test then fails too, even if the work handles the error. `test/infra` compares the grants with the roles of the templates.
 */
export function roleOf(
  name: string,
  capabilities: readonly Capability<unknown>[],
  variables: Variables = process.env,
): RunWithRole {
  const caller = { name, statements: lazy(() => statementsOf(capabilities, variables)) };
  return async (work) => {
    const result = await running.run(caller, work);
    expectNoRefusals();
    return result;
  };
}

/**
 * Returns the environment variables that the deployed function has, with the values of `variables`. The test fails if the function
 * reads another variable that is set in the test.
 */
export function variablesOf(
  name: string,
  capabilities: readonly Capability<unknown>[],
  variables: Variables = process.env,
): Variables {
  const own = new Set<string>([...capabilities.flatMap(({ env }) => env), ...outsideTemplate]);
  return new Proxy(variables, {
    get(_target, variable: string) {
      if (own.has(variable)) return variables[variable];
      refusals.add(`${name} reads the environment variable ${variable}, which no capability of the function declares`);
      return undefined;
    },
  });
}

/** The variables that no template sets. */
const outsideTemplate: readonly (LocalVariable | RuntimeVariable)[] = [
  'ALLOW_LOOPBACK_DELIVERY',
  'AWS_ACCESS_KEY_ID',
  'AWS_ENDPOINT_URL_APPSYNC',
  'AWS_REGION',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'EDITOR_VERSIONS_IN_SECONDS',
  'STRICT_OUTPUT',
];

/** Throws the error of AWS if the role of the running function does not allow a call. Tests themselves may make any call. */
export function requirePermission(call: ServiceCall): void {
  const caller = running.getStore();
  if (!caller) return;
  for (const { action, resource } of accessesOf(call)) {
    if (isAllowed(caller.statements(), action, resource)) continue;
    const refusal = `${caller.name} declares no grant for ${action} on ${resource}`;
    refusals.add(refusal);
    throw Object.assign(new Error(refusal), { name: 'AccessDeniedException', $metadata: { attempts: 1 } });
  }
}

/** Makes an AWS call, which a simulation can answer instead. Throws like `requirePermission`. */
export async function callService<T>(call: ServiceCall, send: () => Promise<T>): Promise<T> {
  requirePermission(call);
  const simulated = activeSimulation.getStore();
  return simulated ? ((await simulated.answer(call, send)) as T) : send();
}

/** Throws if functions did what their deployment does not allow since the last call of this function. */
export function expectNoRefusals(): void {
  const all = [...refusals];
  refusals.clear();
  if (all.length > 0) throw new Error(all.join('\n'));
}

/** Returns the permissions that a call needs. */
function accessesOf({ service, operation, input }: ServiceCall): Access[] {
  switch (service) {
    case 'DynamoDB':
      return dynamoDbAccesses(operation, input);
    case 'SQS':
      return sqsAccesses(operation, input);
    case 'SESv2':
      return sesAccesses(operation, input);
    case 'Secrets Manager':
      return [{ action: `secretsmanager:${operation}`, resource: String(input.SecretId) }];
    case 'Bedrock Runtime':
      // IAM has one action for all calls without a stream.
      return [
        { action: `bedrock:${operation.replace(/^Converse$/, 'InvokeModel')}`, resource: modelArn(input.modelId) },
      ];
    case 'AppSync Events':
      return [{ action: `appsync:Event${operation}`, resource: namespaceArn(String(input.channel).split('/')[1]) }];
    default:
      return [{ action: `${service}:${operation}`, resource: '*' }];
  }
}

function statementsOf(capabilities: readonly Capability<unknown>[], variables: Variables): Statement[] {
  return mergeGrants(capabilities.flatMap(({ grants }) => grants)).map(({ resource, actions }) => ({
    actions: new Set(actions.map((action) => iamAction(resource, action))),
    resources: arnsOf(resource, variables),
  }));
}

/**
 * Returns the ARNs of a resource in tests. They come from the variables with which functions find the resource, so a function that
 * uses the variable of another resource is refused.
 */
function arnsOf(resource: ResourceName, variables: Variables): string[] {
  const [kind = '', name = ''] = resource.split('/');
  const {
    TABLE_NAME = '',
    MAIL_FROM = '',
    CLAUDE_MODEL_ID,
    NOVA_MODEL_ID,
    EMBEDDING_MODEL,
    HEARTBEAT_SECRET_ARN,
    MASTER_KEY_SECRET_ARN,
    SIGNING_KEY_SECRET_ARN,
    PERMISSION_KEY_SECRET_ARN,
    LIVE_KEY_SECRET_ARN,
  } = variables;
  const models: Variables = { claude: CLAUDE_MODEL_ID, nova: NOVA_MODEL_ID, embedding: EMBEDDING_MODEL };
  const secrets: Variables = {
    heartbeat: HEARTBEAT_SECRET_ARN,
    masterKey: MASTER_KEY_SECRET_ARN,
    signingKey: SIGNING_KEY_SECRET_ARN,
    permissionKey: PERMISSION_KEY_SECRET_ARN,
    liveKey: LIVE_KEY_SECRET_ARN,
  };
  switch (kind) {
    case 'table':
      return [tableArn(TABLE_NAME)];
    case 'index':
      return [`${tableArn(TABLE_NAME)}/index/${name}`];
    case 'queue':
      return [queueArn(queueName(variables[queueVariable[name as keyof typeof queueVariable]]))];
    case 'secret':
      return [secrets[name] ?? ''];
    case 'model':
      return [modelArn(models[name] ?? '')];
    case 'mail':
      return [mailIdentityArn(MAIL_FROM)];
    case 'live':
      return ['live', 'user'].map(namespaceArn);
    default:
      throw new Error(`Tests have no ARN of ${resource}`);
  }
}

function modelArn(id: string): string {
  return `arn:aws:bedrock:us-east-1::foundation-model/${id}`;
}

function namespaceArn(name = ''): string {
  return `arn:aws:appsync:us-east-1:000000000000:apis/live/channelNamespace/${name}`;
}

interface SdkClient {
  readonly config: { readonly serviceId: string };
  send(command: { readonly input: Record<string, unknown> }, ...rest: unknown[]): unknown;
}

// All clients of the SDK send their calls with the method of this class.
const sdkClient = (Object.getPrototypeOf(DynamoDBClient) as { prototype: SdkClient }).prototype;
const { send } = sdkClient;
sdkClient.send = async function (this: SdkClient, command, ...rest) {
  const call = { service: this.config.serviceId, operation: operationOf(command), input: command.input };
  return callService(call, async () => send.call(this, command, ...rest));
};
