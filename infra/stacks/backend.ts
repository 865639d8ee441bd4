import type { CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import { type App, type CfnResource, type CfnStack, type NestedStack, Stack, Validations } from 'aws-cdk-lib/core';
import { familyOf } from '../../lib/app/endpoint.ts';
import { isOpenToUsers, isTwin, PREFLIGHT_ROUTE, type Routed, routeKeys } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { ApiFunction } from '../constructs/apiFunction.ts';
import {
  type DeploymentContext,
  environmentValues,
  resourceArns,
  type SharedResources,
} from '../constructs/environment.ts';
import { createHttpApi, throttleRoutes } from '../constructs/httpApi.ts';
import { createApiInvoker } from '../constructs/invoker.ts';
import { deployInLanes, STACK_LANES } from '../constructs/lanes.ts';
import { DEFAULT_FUNCTION } from '../constructs/names.ts';
import { createStreamDeadLetters } from '../constructs/queues.ts';
import { createMonitoring } from '../monitoring/monitoring.ts';
import { isDeployed, namedUnitProblems } from '../settings/namedUnits.ts';
import { metricsService, type Settings, settingsError } from '../settings/settings.ts';
import { FamilyStack } from './family.ts';
import { LiveStack } from './live.ts';
import { createOutputs, createShared } from './shared.ts';
import { applyToAll } from './stackSettings.ts';
import { WorkersStack } from './workers.ts';

export interface BackendProps {
  /** With twins, pages and assets. */
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

  constructor(scope: App, id: string, props: BackendProps) {
    const { settings } = props;
    super(scope, id, {
      stackName: settings.stackName,
      description: 'Collaboration backend: HTTP API, functions, queues and table',
    });
    const { endpoints, workers, authorizer } = deployedUnits(props);

    const { api, stage, url } = createHttpApi(this, this.stackName, settings);
    const shared = createShared(this, url, props.workers, settings);
    const streamDeadLetters = createStreamDeadLetters(this);
    const common = { code: props.code, logRetentionDays: settings.logRetentionDays };
    const reservedConcurrency = settings.reservedConcurrency ?? {};

    this.live =
      authorizer &&
      new LiveStack(this, {
        name: this.stackName,
        authorizer,
        reservedConcurrency,
        ...common,
        ...contextOf(shared, settings),
      });
    const context = contextOf({ ...shared, eventApi: this.live?.eventApi }, settings);
    const unmatched = createUnmatched(this, api.ref, props);
    this.families = createFamilies(this, endpoints, api.ref, settings, { ...common, ...context });
    limitRoutes(stage, endpoints, settings, [unmatched.function, ...this.families.map(resourceOf)]);
    this.workers =
      workers.length === 0
        ? undefined
        : new WorkersStack(this, {
            workers,
            sources: {
              queues: shared.queues,
              tableArn: shared.table.attrArn,
              streamArn: shared.table.attrStreamArn,
              streamDeadLettersArn: streamDeadLetters.attrArn,
              streamBatchesPerShard: settings.streamBatchesPerShard,
            },
            reservedConcurrency,
            ...common,
            ...context,
          });
    // Families are deployed after the workers. In an upgrade, old workers therefore do not get items or messages of new
    // endpoints, which they could not read.
    deployInLanes(this.families.map(resourceOf), STACK_LANES, [
      ...(this.workers ? [resourceOf(this.workers)] : []),
      ...unmatched.routes,
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
    applyToAll(this, settings);
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:configuration-set/*]',
      reason:
        'SES uses the default configuration set of the identity, whose name only the operator knows. The roles allow one identity only.',
    });
    createOutputs(this, shared, settings);
  }
}

/** Returns what the settings deploy. The worker that authorizes users is in a stack of its own. */
function deployedUnits({ endpoints, workers, settings }: BackendProps): {
  endpoints: readonly Routed[];
  workers: readonly Worker[];
  authorizer: Worker | undefined;
} {
  const problems = namedUnitProblems(settings, endpoints, workers);
  if (problems.length > 0) throw settingsError(problems);
  const deployed = workers.filter(isDeployed(settings));
  const authorizer = deployed.find(({ on }) => 'authorizes' in on);
  return {
    endpoints: endpoints.filter(isDeployed(settings)),
    workers: deployed.filter((worker) => worker !== authorizer),
    authorizer,
  };
}

function contextOf(shared: SharedResources, settings: Settings): DeploymentContext {
  return { environment: environmentValues(shared, settings), arns: resourceArns(shared, settings) };
}

function createUnmatched(
  stack: Stack,
  apiId: string,
  { code, endpoints, settings }: BackendProps,
): { function: ApiFunction; routes: readonly CfnResource[] } {
  const unmatched = new ApiFunction(stack, 'Unmatched', {
    description: 'Answers unknown paths, wrong methods and CORS preflights',
    code: code(DEFAULT_FUNCTION),
    environment: { SERVICE_NAME: settings.serviceName },
    statements: [],
    logRetentionDays: settings.logRetentionDays,
  });
  const preflight = endpoints.some(isOpenToUsers) ? [PREFLIGHT_ROUTE] : [];
  const invoker = createApiInvoker(stack, [unmatched.function]);
  return { function: unmatched, routes: unmatched.addRoutes(apiId, ['$default', ...preflight], invoker) };
}

function createFamilies(
  stack: Stack,
  endpoints: readonly Routed[],
  apiId: string,
  { warmFamilies }: Settings,
  props: DeploymentContext & { readonly code: (id: string) => Code; readonly logRetentionDays: number },
): FamilyStack[] {
  const twins = endpoints.filter(isTwin);
  const byFamily = Map.groupBy(
    endpoints.filter((endpoint) => !isTwin(endpoint)),
    ({ path }) => familyOf(path),
  );
  const warm = warmFamilies.split(',');
  return [...byFamily]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([family, members]) => {
      const isWarm = warm.includes('all') || warm.includes(family);
      return new FamilyStack(stack, { family, endpoints: members, twins, apiId, isWarm, ...props });
    });
}

/** Limits the routes that anybody may call. A route that limits its callers itself may have more requests. */
function limitRoutes(
  stage: CfnStage,
  endpoints: readonly Routed[],
  { requestsPerSecond, publicRequestsPerSecond, requestBurst }: Settings,
  createdBy: Parameters<typeof throttleRoutes>[3],
): void {
  const limits = endpoints
    .filter(({ auth }) => auth === 'none')
    .flatMap((declared) => {
      const { kind } = declared;
      const limitsSources =
        kind === 'page' || kind === 'asset' || ('limitsSources' in declared && declared.limitsSources);
      const perSecond = limitsSources ? requestsPerSecond : publicRequestsPerSecond;
      return routeKeys(declared).map((key) => [key, perSecond] as const);
    });
  const all = { $default: publicRequestsPerSecond, ...Object.fromEntries(limits) };
  throttleRoutes(stage, all, requestBurst, createdBy);
}

const resourceOf = ({ nestedStackResource }: NestedStack) => nestedStackResource as CfnStack;
