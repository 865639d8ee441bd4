import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { CfnIntegration, CfnRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IRole, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type CfnFunction, type Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface ApiFunctionProps {
  readonly description: string;
  readonly code: Code;
  readonly environment: Record<string, string>;
  /** What the function may do besides writing its log. */
  readonly statements: readonly { actions: string[]; resource: string }[];
  readonly logRetentionDays: number;
  readonly memoryMb?: number;
  readonly timeoutSeconds?: number;
}

/** Less than the 30 s after which the gateway stops waiting, so that it is the function that answers last. */
const TIMEOUT_SECONDS = 29;
const MEMORY_MB = 512;

/** A function behind the HTTP API: its log group, its role and itself. */
export class ApiFunction extends Construct {
  readonly function: Function;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: ApiFunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', { retention: props.logRetentionDays as RetentionDays, removalPolicy: RemovalPolicy.DESTROY });
    // Inline, not attached: one resource fewer per function, and nothing that another role could come to share.
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        Grants: new PolicyDocument({
          statements: [
            new PolicyStatement({ actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [this.logGroup.logGroupArn] }),
            ...props.statements.map(({ actions, resource }) => new PolicyStatement({ actions, resources: [resource] })),
          ],
        }),
      },
    });
    this.function = new Function(this, 'Function', {
      description: props.description.slice(0, 256),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: props.code,
      memorySize: props.memoryMb ?? MEMORY_MB,
      timeout: Duration.seconds(props.timeoutSeconds ?? TIMEOUT_SECONDS),
      environment: props.environment,
      logGroup: this.logGroup,
      role,
    });
    // CloudFormation makes the function's name of the stack's and this id: without a hash it can be read.
    (this.function.node.defaultChild as CfnFunction).overrideLogicalId(id);
  }

  /** Sends the requests of a route to this function. `invoker` is the role under which the gateway calls it. */
  addRoute(apiId: string, routeKey: string, invoker: IRole): CfnRoute {
    const integration = new CfnIntegration(this, 'Integration', {
      apiId,
      integrationType: 'AWS_PROXY',
      integrationUri: this.function.functionArn,
      payloadFormatVersion: '2.0',
      timeoutInMillis: 30_000,
      credentialsArn: invoker.roleArn,
    });
    const route = new CfnRoute(this, 'Route', { apiId, routeKey, authorizationType: 'NONE', target: `integrations/${integration.ref}` });
    Validations.of(route).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'The function itself verifies the credentials in the headers, and answers a refusal in the envelope of the API.',
    });
    return route;
  }
}

/**
 * The role under which the HTTP API calls exactly these functions: one per stack, where a permission in each function's
 * own policy would cost a resource per function.
 */
export function createInvoker(scope: Construct, functions: readonly Function[]): Role {
  return new Role(scope, 'ApiInvoker', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    inlinePolicies: {
      Invoke: new PolicyDocument({
        statements: [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: functions.map(({ functionArn }) => functionArn) })],
      }),
    },
  });
}
