import type { Context, DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import { environment, openAll, type Uses } from '../app/capability.ts';
import { newId } from '../shared/ids.ts';
import { lazy } from '../shared/lazy.ts';
import { countWorkerFaults } from '../observability/faults.ts';
import { logWith } from '../observability/log.ts';
import { InvocationMeasures } from '../observability/measures.ts';
import type { FromInserts, FromQueue, FromTimer, Source, WorkerCall, WorkerOf, WorkerRun } from '../app/worker.ts';
import { handleInserts } from './handleInserts.ts';
import { handleMessages } from './handleMessages.ts';
import { type Performed, withinTime } from './withinTime.ts';
import * as logMessages from '../observability/logMessages.ts';

/** What Lambda calls: a batch of messages, a batch of stream records, or the tick of a schedule comes in; failures of single ones go out. */
export type WorkerHandler = (
  event: unknown,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
) => Promise<unknown>;

/** So long before the function's end a run is given up, so that its failure is still told. */
const EARLY_TIMEOUT_MILLISECONDS = 500;

let coldStart = true;

/**
 * The Lambda handler of a worker. Each invocation writes one line with what came of it, one more for each failure, the metrics that
 * were measured and, if something failed, the fault metric. `source` is where its environment comes from.
 */
export function toWorkerLambda<S extends Source, U extends Uses>(
  worker: WorkerOf<S, U>,
  source: Record<string, string | undefined> = process.env,
): WorkerHandler {
  const env = lazy(() => environment(source));
  const deps = lazy(() => openAll(worker.uses, env()));
  const perform = performer(worker);

  return async (event, context) => {
    const startedAt = Date.now();
    const serviceName = env().SERVICE_NAME;
    const log = logWith(serviceName, { requestId: context.awsRequestId, worker: worker.name });
    const measures = new InvocationMeasures();
    const end = (counts: Record<string, number>, faults: number) => {
      log.info(logMessages.workerRunCompleted, { ...counts, durationMs: Date.now() - startedAt, coldStart });
      coldStart = false;
      measures.flush(serviceName);
      countWorkerFaults(serviceName, worker.name, faults);
    };
    const deadline = startedAt + context.getRemainingTimeInMillis() - EARLY_TIMEOUT_MILLISECONDS;
    let performed: Performed;
    try {
      performed = await perform(event, {
        deps: deps(),
        clock: Date.now,
        newId: (prefix) => newId(prefix, Date.now()),
        deadline,
        log,
        measures,
      });
    } catch (error) {
      log.error(logMessages.workerRunFailed, { error });
      end({ failed: 1 }, 1);
      // Lambda tries again as the event source says; a stream's batch is split in two.
      throw error;
    }
    end(performed.counts, performed.faults);
    return performed.answer;
  };
}

/** How a worker is run for an event, which depends on what it is on. */
function performer<S extends Source, U extends Uses>(
  worker: WorkerOf<S, U>,
): (event: unknown, call: WorkerCall<U>) => Promise<Performed> {
  const on: Source = worker.on;
  const run: unknown = worker.run;
  if ('queue' in on)
    return (event, call) => handleMessages(on.message, run as WorkerRun<FromQueue, U>, event as SQSEvent, call);
  if ('inserts' in on)
    return (event, call) => handleInserts(run as WorkerRun<FromInserts, U>, event as DynamoDBStreamEvent, call);
  return async (_event, call) => {
    await withinTime((run as WorkerRun<FromTimer, U>)(call), call.deadline);
    return { answer: undefined, counts: {}, faults: 0 };
  };
}
