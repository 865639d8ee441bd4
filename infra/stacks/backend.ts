import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { type Code, Function } from 'aws-cdk-lib/aws-lambda';
import { type App, CfnOutput, type CfnStack, type NestedStack, Stack, Tags, Validations } from 'aws-cdk-lib/core';
import { familyOf } from '../../lib/app/endpoint.ts';
import { isOpenToUsers, isTwin, PREFLIGHT_ROUTE, type Routed, routeKeys } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { METRICS_SERVICE } from '../../lib/observability/metricsWriter.ts';
import { ApiFunction } from '../constructs/apiFunction.ts';
import { encryptWith } from '../constructs/encryption.ts';
import { type DeploymentContext, environmentValues, resourceArns } from '../constructs/environment.ts';
import type { EventApi } from '../constructs/eventApi.ts';
import { createHttpApi, throttleRoutes } from '../constructs/httpApi.ts';
import { createApiInvoker } from '../constructs/invoker.ts';
import { deployInLanes, STACK_LANES } from '../constructs/lanes.ts';
import { DEFAULT_FUNCTION } from '../constructs/names.ts';
import { createQueues, createStreamDeadLetters } from '../constructs/queues.ts';
import { createCredentials, createKey } from '../constructs/secrets.ts';
import { createTable } from '../constructs/table.ts';
import { createMonitoring } from '../monitoring/monitoring.ts';
import { isDeployed, namedUnitProblems } from '../settings/namedUnits.ts';
import { metricsService, type Settings, settingsError } from '../settings/settings.ts';
import { FamilyStack } from './family.ts';
import { LiveStack } from './live.ts';
import { WorkersStack } from './workers.ts';

export interface BackendProps {
  /** Endpoints with their twins in the other API version, pages and assets. */
  readonly endpoints: readonly Routed[];
  readonly workers: readonly Worker[];
  readonly code: (id: string) => Code;
  readonly settings: Settings;
}

/** The root stack. Functions, routes and event sources derive from declarations. */
export class Backend extends Stack {
  readonly families: readonly FamilyStack[];
  /** Undefined if there are no workers, because CloudFormation refuses a stack without resources. */
  readonly workers: WorkersStack | undefined;
  readonly live: LiveStack | undefined;

  constructor(scope: App, id: string, { endpoints, workers, code, settings }: BackendProps) {
    super(scope, id, {
      stackName: settings.stackName,
      description: 'Collaboration backend: HTTP API, functions, queues and table',
    });
    const { logRetentionDays, reservedConcurrency = {} } = settings;
    const { api, stage, url } = createHttpApi(this, this.stackName, settings);
    const shared = {
      publicUrl: url,
      table: createTable(this, settings),
      secrets: {
        masterKey: createKey(this, 'MasterKey', 'Encrypts the secrets of customers'),
        signingKey: createKey(this, 'SigningKey', 'Signs user tokens'),
        permissionKey: createKey(this, 'PermissionKey', 'Signs the answers of permission providers'),
        live:
          settings.live === 'on'
            ? createKey(this, 'LiveKey', 'Names live channels and encrypts their tokens')
            : undefined,
        heartbeat:
          settings.heartbeat === 'on'
            ? createCredentials(this, 'HeartbeatCredentials', 'The API key and the auth token of the heartbeat')
            : undefined,
      },
      queues: createQueues(this, workers),
    };
    const streamDeadLetters = createStreamDeadLetters(this);
    const problems = namedUnitProblems(settings, endpoints, workers);
    if (problems.length > 0) throw settingsError(problems);
    const deployedWorkers = workers.filter(isDeployed(settings));
    const contextWith = (eventApi?: EventApi): DeploymentContext => ({
      environment: environmentValues({ ...shared, eventApi }, settings),
      arns: resourceArns({ ...shared, eventApi }, settings),
    });
    const authorizer = deployedWorkers.find(({ on }) => 'authorizes' in on);
    this.live =
      authorizer &&
      new LiveStack(this, {
        name: this.stackName,
        authorizer,
        code,
        reservedConcurrency,
        logRetentionDays,
        ...contextWith(),
      });
    const context = contextWith(this.live?.eventApi);

    const unmatched = new ApiFunction(this, 'Unmatched', {
      description: 'Answers unknown paths, wrong methods and CORS preflights',
      code: code(DEFAULT_FUNCTION),
      environment: { SERVICE_NAME: settings.serviceName },
      statements: [],
      logRetentionDays,
    });
    const preflight = endpoints.some(isOpenToUsers) ? [PREFLIGHT_ROUTE] : [];
    const unmatchedRoutes = unmatched.addRoutes(
      api.ref,
      ['$default', ...preflight],
      createApiInvoker(this, [unmatched.function]),
    );

    const deployed = endpoints.filter(isDeployed(settings));
    const twins = deployed.filter(isTwin);
    const endpointsWithoutTwins = deployed.filter((endpoint) => !isTwin(endpoint));
    const byFamily = Map.groupBy(endpointsWithoutTwins, ({ path }) => familyOf(path));
    const warm = settings.warmFamilies.split(',');
    this.families = [...byFamily]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([family, members]) =>
          new FamilyStack(this, {
            family,
            endpoints: members,
            twins,
            code,
            apiId: api.ref,
            logRetentionDays,
            isWarm: warm.includes('all') || warm.includes(family),
            ...context,
          }),
      );
    const publicRoutes = deployed
      .filter(({ auth }) => auth === 'none')
      .flatMap((declared) => {
        const { kind } = declared;
        const limitsSources =
          kind === 'page' || kind === 'asset' || ('limitsSources' in declared && declared.limitsSources);
        const perSecond = limitsSources ? settings.requestsPerSecond : settings.publicRequestsPerSecond;
        return routeKeys(declared).map((key) => [key, perSecond] as const);
      });
    const limits = { $default: settings.publicRequestsPerSecond, ...Object.fromEntries(publicRoutes) };
    throttleRoutes(stage, limits, settings.requestBurst, [unmatched, ...this.families.map(resourceOf)]);
    const sources = {
      queues: shared.queues,
      tableArn: shared.table.attrArn,
      streamArn: shared.table.attrStreamArn,
      streamDeadLettersArn: streamDeadLetters.attrArn,
      streamBatchesPerShard: settings.streamBatchesPerShard,
    };
    this.workers =
      deployedWorkers.length === 0
        ? undefined
        : new WorkersStack(this, {
            workers: deployedWorkers.filter((worker) => worker !== authorizer),
            code,
            sources,
            reservedConcurrency,
            logRetentionDays,
            ...context,
          });
    // Families are deployed after the workers. In an upgrade, old workers therefore never get items or messages of new
    // endpoints, which they could not read.
    deployInLanes(this.families.map(resourceOf), STACK_LANES, [
      ...(this.workers ? [resourceOf(this.workers)] : []),
      ...unmatchedRoutes,
    ]);
    createMonitoring(this, {
      families: this.families,
      workers: [...(this.workers?.functions ?? []), ...(this.live ? [this.live.authorizer] : [])],
      api,
      table: shared.table,
      queues: shared.queues,
      streamDeadLetters,
      settings: { ...settings, serviceName: metricsService(settings) },
    });
    for (const [key, value] of Object.entries(settings.tags ?? {})) Tags.of(this).add(key, value);
    if (settings.permissionsBoundary !== undefined) limitRoles(this, settings.permissionsBoundary);
    if (settings.kmsKeyArn !== undefined) encryptWith(settings.kmsKeyArn, this);
    if (metricsService(settings) !== settings.serviceName) {
      for (const construct of this.node.findAll())
        if (construct instanceof Function) construct.addEnvironment(METRICS_SERVICE, metricsService(settings));
    }

    Validations.of(this).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:configuration-set/*]',
      reason:
        'SES uses the default configuration set of the identity, whose name only the operator knows. The roles allow one identity only.',
    });
    new CfnOutput(this, 'ApiUrl', { value: url });
    new CfnOutput(this, 'TableName', { value: shared.table.ref });
    new CfnOutput(this, 'WebhookRetrySchedule', { value: settings.webhookRetrySchedule });
    new CfnOutput(this, 'DueMarginSeconds', { value: String(settings.dueMarginSeconds) });
    new CfnOutput(this, 'MasterKeySecretArn', { value: shared.secrets.masterKey.ref });
    new CfnOutput(this, 'ServiceName', { value: settings.serviceName });
    new CfnOutput(this, 'SigningKeySecretArn', { value: shared.secrets.signingKey.ref });
    new CfnOutput(this, 'PermissionKeySecretArn', { value: shared.secrets.permissionKey.ref });
    if (shared.secrets.live) new CfnOutput(this, 'LiveKeySecretArn', { value: shared.secrets.live.ref });
    if (shared.secrets.heartbeat) new CfnOutput(this, 'HeartbeatSecretArn', { value: shared.secrets.heartbeat.ref });
  }
}

const resourceOf = ({ nestedStackResource }: NestedStack) => nestedStackResource as CfnStack;

function limitRoles(stack: Stack, policy: string): void {
  const boundary = policy.startsWith('arn:')
    ? ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', policy)
    : ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', policy);
  PermissionsBoundary.of(stack).apply(boundary);
}
