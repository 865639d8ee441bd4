import { CfnIntegration, CfnRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { type CfnResource, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { PREFLIGHT_ROUTE } from '../../lib/app/page.ts';
import { LambdaFunction, type LambdaFunctionProps } from './lambdaFunction.ts';
import { API_MEMORY_MB } from './memory.ts';

export interface ApiFunctionProps extends Omit<LambdaFunctionProps, 'memoryMb' | 'timeoutSeconds'> {
  readonly memoryMb?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
}

/** The gateway gives up after 30 s. Lambda ends a slow call before that. */
const TIMEOUT_SECONDS = 29;

export class ApiFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: ApiFunctionProps) {
    super(scope, id, {
      ...props,
      memoryMb: props.memoryMb ?? API_MEMORY_MB,
      timeoutSeconds: props.timeoutSeconds ?? TIMEOUT_SECONDS,
    });
  }

  addRoutes(apiId: string, routeKeys: readonly string[], invoker: IRole): CfnResource[] {
    const integration = new CfnIntegration(this, 'Integration', {
      apiId,
      integrationType: 'AWS_PROXY',
      integrationUri: this.function.functionArn,
      payloadFormatVersion: '2.0',
      timeoutInMillis: 30_000,
      credentialsArn: invoker.roleArn,
    });
    const routes = routeKeys.map((routeKey, index) => {
      const route = new CfnRoute(this, routeId(routeKey, index), {
        apiId,
        routeKey,
        authorizationType: 'NONE',
        target: `integrations/${integration.ref}`,
      });
      Validations.of(route).acknowledge({
        id: 'AwsSolutions-APIG4',
        reason:
          'The function itself verifies the credentials in the headers, and answers errors in the envelope of the API.',
      });
      return route;
    });
    return [integration, ...routes];
  }
}

/** Do not change ids: CloudFormation would try to create the same route again, and fail. */
function routeId(routeKey: string, index: number): string {
  if (routeKey === PREFLIGHT_ROUTE) return 'PreflightRoute';
  if (routeKey.endsWith('/{page}')) return routeKey.startsWith('HEAD ') ? 'HeadPagesRoute' : 'PagesRoute';
  if (routeKey.startsWith('HEAD ')) return 'HeadRoute';
  return index === 0 ? 'Route' : 'TwinRoute';
}
