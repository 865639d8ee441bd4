import { RemovalPolicy } from 'aws-cdk-lib';
import { CfnApi, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

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

/** The HTTP API and its one stage, which deploys every change of a route at once. */
export function createHttpApi(scope: Construct, name: string, logRetentionDays: number): CfnApi {
  const api = new CfnApi(scope, 'Api', { name, protocolType: 'HTTP' });
  const logs = new LogGroup(scope, 'AccessLogs', { retention: logRetentionDays as RetentionDays, removalPolicy: RemovalPolicy.DESTROY });
  new CfnStage(scope, 'Stage', {
    apiId: api.ref,
    stageName: '$default',
    autoDeploy: true,
    accessLogSettings: { destinationArn: logs.logGroupArn, format: JSON.stringify(ACCESS_LOG) },
  });
  return api;
}
