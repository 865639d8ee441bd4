import type { Context, DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import * as z from 'zod';
import { environment, openAll, type Uses } from '../app/capability.ts';
import type {
  AuthorizationRequest,
  AuthorizerCall,
  FromChanges,
  FromInserts,
  FromQueue,
  FromTimer,
  Source,
  WorkerCall,
  WorkerOf,
  WorkerRun,
} from '../app/worker.ts';
import { DependencyShares } from '../observability/dependencies.ts';
import { countDependencyFaults, countWorkerFaults } from '../observability/faults.ts';
import { FaultShare } from '../observability/faultShare.ts';
import { logWith } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import { InvocationMeasures } from '../observability/measures.ts';
import { newId } from '../shared/ids.ts';
import { lazy } from '../shared/lazy.ts';
import { handleMessages } from './handleMessages.ts';
import { handleRecords, toChanged, toInserted } from './handleRecords.ts';
import { type InvocationResult, runUntil } from './runUntil.ts';

export type WorkerHandler = (
  event: unknown,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
) => Promise<unknown>;

/** A run fails this long before the timeout of the function, so that the failure can be logged. */
const EARLY_TIMEOUT_MILLISECONDS = 500;

let coldStart = true;

/** Each invocation writes its metrics and one log line, and a line for each failure. */
export function toWorkerLambda<S extends Source, U extends Uses>(
  worker: WorkerOf<S, U>,
  source: Record<string, string | undefined> = process.env,
): WorkerHandler {
  const env = lazy(() => environment(source));
  const deps = lazy(() => openAll(worker.uses, env()));
  const invoke = invoker(worker);
  const faultShare = new FaultShare();
  const dependencyShares = new DependencyShares();

  return async (event, context) => {
    const startedAt = Date.now();
    const serviceName = env().SERVICE_NAME;
    const log = logWith(serviceName, { requestId: context.awsRequestId, worker: worker.name });
    const measures = new InvocationMeasures();
    const end = (counts: Record<string, number>, faults: number) => {
      log.info(logMessages.workerRunCompleted, { ...counts, durationMs: Date.now() - startedAt, coldStart });
      coldStart = false;
      measures.flush(serviceName);
      const calls = counts.messages ?? counts.records ?? 1;
      countWorkerFaults(serviceName, worker.name, faults, faultShare.add(Date.now(), { calls, faults }));
      countDependencyFaults(serviceName, dependencyShares.end(Date.now()));
    };
    const deadline = startedAt + context.getRemainingTimeInMillis() - EARLY_TIMEOUT_MILLISECONDS;
    let result: InvocationResult;
    try {
      result = await invoke(event, {
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
      throw error;
    }
    end(result.counts, result.faults);
    return result.answer;
  };
}

export function invoker<S extends Source, U extends Uses>(
  worker: WorkerOf<S, U>,
): (event: unknown, call: WorkerCall<U>) => Promise<InvocationResult> {
  const on: Source = worker.on;
  const run: unknown = worker.run;
  if ('queue' in on)
    return (event, call) => handleMessages(on.message, run as WorkerRun<FromQueue, U>, event as SQSEvent, call);
  if ('inserts' in on)
    return (event, call) =>
      handleRecords(run as WorkerRun<FromInserts, U>, toInserted, event as DynamoDBStreamEvent, call);
  if ('changes' in on)
    return (event, call) =>
      handleRecords(run as WorkerRun<FromChanges, U>, toChanged, event as DynamoDBStreamEvent, call);
  if ('authorizes' in on)
    return async (event, call) => {
      const authorize = run as (call: AuthorizerCall<U>) => Promise<boolean>;
      const request = toAuthorizationRequest(event);
      const isAuthorized = await runUntil(authorize({ ...call, request }), call.deadline);
      // AppSync would cache the answer for the token alone, but a token has different rights in each channel.
      return { answer: { isAuthorized, ttlOverride: 0 }, counts: {}, faults: 0 };
    };
  return async (_event, call) => {
    await runUntil((run as WorkerRun<FromTimer, U>)(call), call.deadline);
    return { answer: undefined, counts: {}, faults: 0 };
  };
}

const authorizerOperations = {
  EVENT_CONNECT: 'connect',
  EVENT_SUBSCRIBE: 'subscribe',
  EVENT_PUBLISH: 'publish',
} as const;

const AuthorizerEvent = z.object({
  authorizationToken: z.string().default(''),
  requestContext: z.object({
    operation: z.enum(['EVENT_CONNECT', 'EVENT_SUBSCRIBE', 'EVENT_PUBLISH']),
    channel: z.string().nullish(),
  }),
});

function toAuthorizationRequest(event: unknown): AuthorizationRequest {
  const { authorizationToken: token, requestContext } = AuthorizerEvent.parse(event);
  return { token, operation: authorizerOperations[requestContext.operation], channel: requestContext.channel ?? '' };
}
