import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import { CfnApi, CfnApiMapping, CfnDomainName, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import { gatewayQueries, saveQueries } from '../monitoring/savedQueries.ts';
import type { Settings } from '../stacks/settings.ts';

/** How many times the rate per second may come at once. */
const BURST = 2;

/** One line of JSON per request. No header is logged: they hold credentials. */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  sourceIp: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  route: '$context.routeKey',
  status: '$context.status',
  responseLength: '$context.responseLength',
  latencyMs: '$context.responseLatency',
  integrationLatencyMs: '$context.integrationLatency',
  integrationStatus: '$context.integrationStatus',
  integrationError: '$context.integrationErrorMessage',
};

export interface HttpApi {
  readonly api: CfnApi;
  readonly stage: CfnStage;
  /** The address under which customers are to call it. */
  readonly url: string;
}

/** The HTTP API and its one stage, which deploys every change of a route at once. */
export function createHttpApi(
  scope: Construct,
  name: string,
  { logRetentionDays, domainName, certificateArn, requestsPerSecond }: Settings,
): HttpApi {
  const api = new CfnApi(scope, 'Api', { name, protocolType: 'HTTP' });
  const logs = new LogGroup(scope, 'AccessLogs', {
    retention: logRetentionDays as RetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const stage = new CfnStage(scope, 'Stage', {
    apiId: api.ref,
    stageName: '$default',
    autoDeploy: true,
    defaultRouteSettings: throttle(requestsPerSecond),
    accessLogSettings: { destinationArn: logs.logGroupArn, format: JSON.stringify(ACCESS_LOG) },
  });
  saveQueries(scope, gatewayQueries, [logs]);
  if (domainName === undefined || certificateArn === undefined) return { api, stage, url: api.attrApiEndpoint };
  createDomain(scope, stage, domainName, certificateArn);
  return { api, stage, url: `https://${domainName}` };
}

/**
 * Throttles these routes more tightly than the stage does. The stage waits for the stacks that create the routes, because AWS refuses settings of a
 * route that does not exist.
 */
export function throttleRoutes(
  stage: CfnStage,
  routeKeys: readonly string[],
  perSecond: number,
  createdBy: readonly IConstruct[],
): void {
  stage.routeSettings = Object.fromEntries(
    routeKeys.map((key) => [key, { ThrottlingRateLimit: perSecond, ThrottlingBurstLimit: perSecond * BURST }]),
  );
  stage.node.addDependency(...createdBy);
}

function throttle(perSecond: number): CfnStage.RouteSettingsProperty {
  return { throttlingRateLimit: perSecond, throttlingBurstLimit: perSecond * BURST };
}

/**
 * The API's own host name. The record that leads there is the operator's to make, wherever the zone is: a stack that waits for DNS of
 * somebody else cannot be deployed in one go. The name that AWS gave stays, so that nothing breaks while customers move.
 */
function createDomain(scope: Construct, stage: CfnStage, domainName: string, certificateArn: string): void {
  const domain = new CfnDomainName(scope, 'Domain', {
    domainName,
    domainNameConfigurations: [{ certificateArn, endpointType: 'REGIONAL', securityPolicy: 'TLS_1_2' }],
  });
  new CfnApiMapping(scope, 'DomainMapping', { apiId: stage.apiId, domainName: domain.ref, stage: stage.ref });
  new CfnOutput(scope, 'DomainTarget', { value: domain.attrRegionalDomainName });
  new CfnOutput(scope, 'DomainTargetZone', { value: domain.attrRegionalHostedZoneId });
}
