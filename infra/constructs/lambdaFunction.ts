import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type CfnFunction, type Code, Function, RecursiveLoop, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface Permission {
  readonly actions: string[];
  /** ARNs. */
  readonly resources: readonly string[];
}

export interface LambdaFunctionProps {
  readonly description: string;
  readonly code: Code;
  readonly environment: Record<string, string>;
  /** Permissions besides writing the log. */
  readonly statements: readonly Permission[];
  readonly logRetentionDays: number;
  readonly memoryMb?: number | undefined;
  readonly timeoutSeconds: number;
  /** Whether Lambda lets long chains of invocations of the function continue. By default it stops them. */
  readonly allowsRecursion?: boolean;
}

export const MEMORY_MB = 512;

/** A function with its log group and its role. */
export class LambdaFunction extends Construct {
  readonly function: Function;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: LambdaFunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- The values of the enum are days.
      retention: props.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // An inline policy saves one resource per function, and no other role can share it.
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        Grants: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [this.logGroup.logGroupArn],
            }),
            ...props.statements.map(
              ({ actions, resources }) => new PolicyStatement({ actions, resources: [...resources] }),
            ),
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
      timeout: Duration.seconds(props.timeoutSeconds),
      environment: props.environment,
      logGroup: this.logGroup,
      role,
      ...(props.allowsRecursion && { recursiveLoop: RecursiveLoop.ALLOW }),
    });
    // The logical id becomes part of the name of the function. Without CDK's hash the name is readable.
    (this.function.node.defaultChild as CfnFunction).overrideLogicalId(id);
  }
}
