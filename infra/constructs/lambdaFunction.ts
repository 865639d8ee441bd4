import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type CfnFunction, type Code, Function, RecursiveLoop, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

export interface Permission {
  readonly actions: string[];
  readonly resources: readonly string[];
}

export interface LambdaFunctionProps {
  readonly description: string;
  readonly code: Code;
  readonly environment: Record<string, string>;
  readonly statements: readonly Permission[];
  readonly logRetentionDays: number;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly reservedConcurrency?: number | undefined;
  /** By default, Lambda stops a recursive loop after about 16 invocations. */
  readonly allowsRecursion?: boolean;
}

export class LambdaFunction extends Construct {
  readonly function: Function;
  readonly logGroup: LogGroup;
  readonly statements: readonly Permission[];
  readonly #grants = new PolicyDocument();

  constructor(scope: Construct, id: string, props: LambdaFunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', {
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- The values of the enum are days.
      retention: props.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.statements = props.statements;
    this.allow({ actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [this.logGroup.logGroupArn] });
    for (const statement of props.statements) this.allow(statement);
    // An inline policy is no resource of its own, so a stack has room for more functions.
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Grants: this.#grants },
    });
    this.function = new Function(this, 'Function', {
      description: props.description.slice(0, 256),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: props.code,
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutSeconds),
      environment: props.environment,
      logGroup: this.logGroup,
      role,
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...(props.allowsRecursion && { recursiveLoop: RecursiveLoop.ALLOW }),
    });
    // Without the hash of the CDK in the logical id, the name of the function is readable.
    (this.function.node.defaultChild as CfnFunction).overrideLogicalId(id);
  }

  allow({ actions, resources }: Permission): void {
    this.#grants.addStatements(new PolicyStatement({ actions, resources: [...resources] }));
  }
}
