import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type Worker, workerId } from '../../lib/app/worker.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import { type DeploymentContext, functionAccess } from '../constructs/environment.ts';
import { createEventApi, type EventApi } from '../constructs/eventApi.ts';
import { LambdaFunction } from '../constructs/lambdaFunction.ts';
import { WORKER_MEMORY_MB } from '../constructs/memory.ts';
import { pascal } from '../constructs/names.ts';
import { saveQueries, workerQueries } from '../constructs/savedQueries.ts';
import { NamedStack } from './namedStack.ts';

export interface LiveProps extends DeploymentContext {
  readonly name: string;
  /** Checks the tokens of users who connect, subscribe or publish. */
  readonly authorizer: Worker;
  readonly code: (id: string) => Code;
  readonly reservedConcurrency: Readonly<Record<string, number>>;
  readonly logRetentionDays: number;
}

/** The worker that publishes needs the address of the Event API. So this stack exists before that of the workers. */
export class LiveStack extends NamedStack {
  readonly authorizer: { readonly worker: Worker; readonly construct: LambdaFunction };
  readonly eventApi: EventApi;

  constructor(
    scope: Construct,
    { name, authorizer: worker, code, reservedConcurrency, logRetentionDays, ...context }: LiveProps,
  ) {
    super(scope, 'Live', 'The push service: channels and their authorizer');
    const construct = new LambdaFunction(this, pascal(worker.name), {
      description: worker.summary,
      code: code(workerId(worker.name)),
      ...functionAccess(workerCapabilities(worker), context),
      logRetentionDays,
      reservedConcurrency: reservedConcurrency[worker.name],
      memoryMb: WORKER_MEMORY_MB,
      timeoutSeconds: worker.timeoutSeconds,
    });
    this.authorizer = { worker, construct };
    this.eventApi = createEventApi(this, name, construct.function);
    saveQueries(this, workerQueries, [construct.logGroup], 'live');
  }
}
