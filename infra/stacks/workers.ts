import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type Worker, workerId } from '../../lib/app/worker.ts';
import type { DeploymentContext } from '../constructs/environment.ts';
import { workersInLoops } from '../constructs/recursiveLoops.ts';
import { saveQueries, workerQueries } from '../constructs/savedQueries.ts';
import { WorkerFunction, type WorkerSources } from '../constructs/workerFunction.ts';
import { NamedStack } from './namedStack.ts';

export interface WorkersProps extends DeploymentContext {
  readonly workers: readonly Worker[];
  readonly code: (id: string) => Code;
  readonly sources: WorkerSources;
  readonly reservedConcurrency: Readonly<Record<string, number>>;
  readonly logRetentionDays: number;
}

/** With more readers of the stream, DynamoDB throttles reads. */
const MAX_STREAM_READERS = 2;

/** The queues are in the root stack, because endpoints send messages to them too. */
export class WorkersStack extends NamedStack {
  readonly functions: readonly { readonly worker: Worker; readonly construct: WorkerFunction }[];

  constructor(scope: Construct, { workers, code, reservedConcurrency, ...props }: WorkersProps) {
    super(scope, 'Workers', 'The workers');
    if (workers.filter(({ on }) => 'inserts' in on || 'changes' in on).length > MAX_STREAM_READERS) {
      throw new Error(`More than ${MAX_STREAM_READERS} workers read the table's stream. Merge two of them.`);
    }
    const inLoops = workersInLoops(workers);
    this.functions = workers.map((worker) => ({
      worker,
      construct: new WorkerFunction(this, worker, {
        ...props,
        code: code(workerId(worker.name)),
        reservedConcurrency: reservedConcurrency[worker.name],
        allowsRecursion: inLoops.has(worker.name),
      }),
    }));
    saveQueries(
      this,
      workerQueries,
      this.functions.map(({ construct }) => construct.logGroup),
    );
  }
}
