import { type IPrincipal, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/** One role for a whole stack needs fewer resources than one Lambda permission per function. */
export function createInvoker(
  scope: Construct,
  id: string,
  assumedBy: IPrincipal,
  functions: readonly Function[],
): Role {
  return new Role(scope, id, {
    assumedBy,
    inlinePolicies: {
      Invoke: new PolicyDocument({
        statements: [
          new PolicyStatement({
            actions: ['lambda:InvokeFunction'],
            resources: functions.map(({ functionArn }) => functionArn),
          }),
        ],
      }),
    },
  });
}

export function createApiInvoker(scope: Construct, functions: readonly Function[]): Role {
  return createInvoker(scope, 'ApiInvoker', new ServicePrincipal('apigateway.amazonaws.com'), functions);
}
