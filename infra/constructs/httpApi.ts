import { CfnApi, CfnApiMapping, CfnDomainName, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct, IConstruct } from 'constructs';
import type { Settings } from '../settings/settings.ts';
import { gatewayQueries, saveQueries } from './savedQueries.ts';

const BURST = 2;

/** Headers contain credentials, so they are not logged. */
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
  readonly url: string;
}

export function createHttpApi(
  scope: Construct,
  name: string,
  { logRetentionDays, domainName, certificateArn, requestsPerSecond, requestBurst, ...settings }: Settings,
): HttpApi {
  const api = new CfnApi(scope, 'Api', {
    name,
    protocolType: 'HTTP',
    ...(settings.disableExecuteApiEndpoint === 'on' && { disableExecuteApiEndpoint: true }),
  });
  const logs = new LogGroup(scope, 'AccessLogs', {
    // API Gateway enters each log group into a policy of the account, which has room for some dozens. One entry covers
    // all groups with this prefix.
    logGroupName: `/aws/vendedlogs/${name}/AccessLogs`,
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- The values of the enum are days.
    retention: logRetentionDays as RetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const stage = new CfnStage(scope, 'Stage', {
    apiId: api.ref,
    stageName: '$default',
    autoDeploy: true,
    defaultRouteSettings: throttle(requestsPerSecond, requestBurst),
    accessLogSettings: { destinationArn: logs.logGroupArn, format: JSON.stringify(ACCESS_LOG) },
  });
  saveQueries(scope, gatewayQueries, [logs]);
  if (domainName === undefined || certificateArn === undefined) return { api, stage, url: api.attrApiEndpoint };
  createDomain(scope, stage, domainName, certificateArn);
  return { api, stage, url: `https://${domainName}` };
}

/**
 * AWS refuses limits of missing routes, so the stage depends on `createdBy`. A limit that is removed from the template
 * stays in the stage: to end it, replace it by another limit.
 */
export function throttleRoutes(
  stage: CfnStage,
  limits: Readonly<Record<string, number>>,
  requestBurst: number,
  createdBy: readonly IConstruct[],
): void {
  stage.routeSettings = Object.fromEntries(
    Object.entries(limits).map(([key, perSecond]) => {
      const { throttlingRateLimit, throttlingBurstLimit } = throttle(perSecond, requestBurst);
      return [key, { ThrottlingRateLimit: throttlingRateLimit, ThrottlingBurstLimit: throttlingBurstLimit }];
    }),
  );
  stage.node.addDependency(...createdBy);
}

function throttle(perSecond: number, requestBurst: number): CfnStage.RouteSettingsProperty {
  return { throttlingRateLimit: perSecond, throttlingBurstLimit: Math.min(perSecond * BURST, requestBurst) };
}

/**
 * If the stack waited for a DNS record outside of AWS, it could not be deployed in one step. So the operator creates
 * the record after the deployment.
 */
function createDomain(scope: Construct, stage: CfnStage, domainName: string, certificateArn: string): void {
  const domain = new CfnDomainName(scope, 'Domain', {
    domainName,
    domainNameConfigurations: [{ certificateArn, endpointType: 'REGIONAL', securityPolicy: 'TLS_1_2' }],
  });
  // While the routes are created, API Gateway has as many changes as it accepts, so the domain waits.
  domain.addResourceDependency(stage);
  new CfnApiMapping(scope, 'DomainMapping', { apiId: stage.apiId, domainName: domain.ref, stage: stage.ref });
  new CfnOutput(scope, 'DomainTarget', { value: domain.attrRegionalDomainName });
  new CfnOutput(scope, 'DomainTargetZone', { value: domain.attrRegionalHostedZoneId });
}
