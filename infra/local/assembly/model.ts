import { isAllowed } from '../iam/iam.ts';
import { streamArn } from '../iam/identity.ts';
import { StartError } from '../startError.ts';
import type { Assembly } from './cloudAssembly.ts';
import { type EventApiModel, eventApiOf } from './eventApiModel.ts';
import {
  batchSourcesOf,
  type QueueModel,
  queuesOf,
  type QueueSourceModel,
  type ScheduleModel,
  schedulesOf,
  type StreamSourceModel,
} from './eventSourceModels.ts';
import type { FunctionModel } from './functionModel.ts';
import { COMPOSITE_ALARM, type MonitoringModel, monitoringOf } from './monitoring/monitoringModel.ts';
import { savedQueriesOf, type SavedQuery } from './queries/savedQueries.ts';
import { type Roles, rolesOf } from './roles.ts';
import type { Resource } from './template.ts';

export interface TableModel {
  readonly name: string;
  readonly streamArn: string;
  readonly properties: Record<string, unknown>;
}

export interface RouteModel {
  readonly key: string;
  readonly function: FunctionModel;
  readonly timeoutMilliseconds: number;
}

export interface SecretModel {
  readonly arn: string;
  readonly name: string;
  readonly properties: Record<string, unknown>;
}

export interface SystemModel {
  readonly tables: readonly TableModel[];
  readonly functions: readonly FunctionModel[];
  readonly routes: readonly RouteModel[];
  readonly secrets: readonly SecretModel[];
  readonly queues: readonly QueueModel[];
  readonly queueSources: readonly QueueSourceModel[];
  readonly streamSources: readonly StreamSourceModel[];
  readonly schedules: readonly ScheduleModel[];
  readonly monitoring: MonitoringModel;
  readonly savedQueries: readonly SavedQuery[];
  /** The variable of API Gateway, such as `$context.status`, by the field of the access log. */
  readonly accessLog: Readonly<Record<string, string>>;
  /** Undefined while the setting `live` is off. */
  readonly eventApi: EventApiModel | undefined;
}

const LAMBDA_DEFAULT_SECONDS = 3;
const LAMBDA_DEFAULT_MB = 128;
const GATEWAY_DEFAULT_MILLISECONDS = 30_000;

const supportedTypes = new Set([
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::ApiGatewayV2::Stage',
  'AWS::AppSync::Api',
  'AWS::AppSync::ChannelNamespace',
  'AWS::CloudWatch::Alarm',
  COMPOSITE_ALARM,
  'AWS::CloudWatch::Dashboard',
  'AWS::DynamoDB::Table',
  'AWS::DynamoDB::GlobalTable',
  'AWS::Events::Rule',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Logs::QueryDefinition',
  'AWS::SecretsManager::Secret',
  'AWS::SQS::Queue',
]);

/**
 * These have no effect in the local run. `AWS::Lambda::EventInvokeConfig` sets how often Lambda retries scheduled runs,
 * which the local run never does.
 */
const ignoredTypes = new Set([
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::ApiMapping',
  'AWS::ApiGatewayV2::DomainName',
  'AWS::CDK::Metadata',
  'AWS::CertificateManager::Certificate',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Logs::LogGroup',
  'AWS::Route53::RecordSet',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
]);

/**
 * Throws a `StartError` for what the local run does not support. `serviceName` is the service name in the functions'
 * metrics, which can differ from that of the templates.
 */
export function modelOf({ resources, asset }: Assembly, serviceName?: string): SystemModel {
  requireSupportedTypes(resources);
  const ofTypes = (...types: string[]) => resources.filter(({ type }) => types.includes(type));
  const roles = rolesOf(ofTypes('AWS::IAM::Role'), ofTypes('AWS::IAM::Policy'));
  const functions = ofTypes('AWS::Lambda::Function').map((resource) => functionOf(resource, roles, asset));
  const tables = ofTypes('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable').map(({ ref, arn, properties }) => ({
    name: ref,
    streamArn: streamArn(arn),
    properties,
  }));
  const queues = queuesOf(ofTypes('AWS::SQS::Queue'));
  return {
    tables,
    functions,
    routes: routesOf(ofTypes('AWS::ApiGatewayV2::Route'), ofTypes('AWS::ApiGatewayV2::Integration'), functions, roles),
    secrets: ofTypes('AWS::SecretsManager::Secret').map(({ arn, properties }) => ({
      arn,
      name: arn.slice(arn.lastIndexOf(':') + 1),
      properties,
    })),
    queues,
    ...batchSourcesOf(ofTypes('AWS::Lambda::EventSourceMapping'), { functions, queues, tables }),
    schedules: schedulesOf(ofTypes('AWS::Events::Rule'), ofTypes('AWS::Lambda::Permission'), functions),
    eventApi: eventApiOf(
      ofTypes('AWS::AppSync::Api'),
      ofTypes('AWS::AppSync::ChannelNamespace'),
      ofTypes('AWS::Lambda::Permission'),
      functions,
    ),
    savedQueries: savedQueriesOf(ofTypes('AWS::Logs::QueryDefinition'), ofTypes('AWS::Lambda::Function')),
    accessLog: accessLogOf(ofTypes('AWS::ApiGatewayV2::Stage')),
    monitoring: monitoringOf(
      ofTypes('AWS::CloudWatch::Dashboard'),
      ofTypes('AWS::CloudWatch::Alarm', COMPOSITE_ALARM),
      serviceName,
    ),
  };
}

function accessLogOf([stage]: readonly Resource[]): Readonly<Record<string, string>> {
  const { Format } = (stage?.properties.AccessLogSettings ?? {}) as { readonly Format?: string };
  return Format === undefined ? {} : (JSON.parse(Format) as Record<string, string>);
}

function requireSupportedTypes(resources: readonly Resource[]): void {
  const unknown = resources.filter(({ type }) => !supportedTypes.has(type) && !ignoredTypes.has(type));
  if (unknown.length === 0) return;
  const list = unknown.map(({ path, type }) => `  ${path} (${type})`).join('\n');
  throw new StartError(
    `The template has resources that the local run does not support:\n${list}\nAdd them to infra/local/assembly/model.ts.`,
  );
}

function functionOf({ path, ref, arn, properties }: Resource, roles: Roles, asset: Assembly['asset']): FunctionModel {
  const code = properties.Code as { S3Key?: string };
  if (!code.S3Key) throw new StartError(`The code of ${path} is not an asset.`);
  const statements = roles.get(String(properties.Role));
  if (!statements) throw new StartError(`The function ${path} has a role that the template does not define.`);
  return {
    name: ref,
    arn,
    codeDir: asset(code.S3Key),
    handler: String(properties.Handler),
    environment: (properties.Environment as { Variables?: Record<string, string> } | undefined)?.Variables ?? {},
    timeoutSeconds: Number(properties.Timeout ?? LAMBDA_DEFAULT_SECONDS),
    memoryMb: Number(properties.MemorySize ?? LAMBDA_DEFAULT_MB),
    statements,
  };
}

function routesOf(
  routes: readonly Resource[],
  integrations: readonly Resource[],
  functions: readonly FunctionModel[],
  roles: Roles,
): RouteModel[] {
  const targets = new Map(integrations.map((integration) => [`integrations/${integration.ref}`, integration]));
  const byArn = new Map(functions.map((model) => [model.arn, model]));
  return routes.map(({ path, properties }) => {
    const key = String(properties.RouteKey);
    if (/\{(?!\w+\}$)/.test(key) && !/^[A-Z]+ \/\{proxy\+\}$/.test(key))
      throw new StartError(
        `The route ${path} has a path with parameters, ${key}, which the local gateway does not match. It matches a single parameter at the end.`,
      );
    const integration = targets.get(String(properties.Target))?.properties;
    const target = byArn.get(String(integration?.IntegrationUri));
    if (!integration || !target) throw new StartError(`The route ${path} (${key}) has no function in the template.`);
    const invoker = integration.CredentialsArn as string | undefined;
    if (invoker !== undefined && !isAllowed(roles.get(invoker) ?? [], 'lambda:InvokeFunction', target.arn)) {
      throw new StartError(
        `The route ${path} (${key}) cannot call its function: ${invoker} does not allow lambda:InvokeFunction on ${target.arn}.`,
      );
    }
    return {
      key,
      function: target,
      timeoutMilliseconds: Number(integration.TimeoutInMillis ?? GATEWAY_DEFAULT_MILLISECONDS),
    };
  });
}
