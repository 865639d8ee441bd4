import type { Code } from 'aws-cdk-lib/aws-lambda';
import { type CfnStack, NestedStack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type Worker, workerId } from '../../lib/app/worker.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import { type DeploymentContext, functionAccess } from '../constructs/environment.ts';
import { createEventApi, type EventApi } from '../constructs/eventApi.ts';
import { LambdaFunction } from '../constructs/lambdaFunction.ts';
import { pascal } from '../constructs/names.ts';
import { saveQueries, workerQueries } from '../monitoring/savedQueries.ts';

export interface LiveProps extends DeploymentContext {
  /** The name of the Event API. */
  readonly name: string;
  /** The worker that checks the tokens of users who connect, subscribe or publish. */
  readonly authorizer: Worker;
  readonly code: (id: string) => Code;
  readonly logRetentionDays: number;
}

/**
 * The stack of the push service: the Event API and its authorizer. They are not in the stack of the workers. The worker
 * that publishes needs the address of the Event API, so this stack must exist first.
 */
export class LiveStack extends NestedStack {
  readonly authorizer: { readonly worker: Worker; readonly construct: LambdaFunction };
  readonly eventApi: EventApi;
  /** The logical id of this nested stack in the template of the root stack. */
  readonly stackResource = 'Live';

  constructor(scope: Construct, { name, authorizer: worker, code, logRetentionDays, ...context }: LiveProps) {
    super(scope, 'Live', { description: 'The push service: channels and their authorizer' });
    // CloudFormation derives the names of functions from this logical id. Without the hash of the CDK, the names are
    // readable.
    (this.nestedStackResource as CfnStack).overrideLogicalId(this.stackResource);
    const construct = new LambdaFunction(this, pascal(worker.name), {
      description: worker.summary,
      code: code(workerId(worker.name)),
      ...functionAccess(workerCapabilities(worker), context),
      logRetentionDays,
      timeoutSeconds: worker.timeoutSeconds,
    });
    this.authorizer = { worker, construct };
    this.eventApi = createEventApi(this, name, construct.function);
    saveQueries(this, workerQueries, [construct.logGroup], 'live');
  }
}
