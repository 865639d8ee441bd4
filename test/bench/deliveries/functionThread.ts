/**
 * Runs the invocations of one function in a thread. `functionThreads.ts` starts the thread and executes its calls of the
 * table and of SQS.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { documentClients } from '../../../lib/table/documentClient.ts';
import type { WorkerHandler } from '../../../lib/workers/lambda.ts';
import { asDocumentClient } from '../../support/leanClient.ts';
import type { FromThread, ToThread } from './functionThreads.ts';

const port = parentPort!;
const calls = new Map<number, PromiseWithResolvers<object>>();
let ids = 0;

documentClients.open = () =>
  asDocumentClient({ send: ({ constructor: { name }, input }) => callMain('table', { name, input }) });
const send = ({ input }: { readonly input: object }) => callMain('sqs', { name: '', input });
SQSClient.prototype.send = send;
// Hides the warning of Powertools that metrics are disabled.
console.warn = () => undefined;

const { handler } = (await import(`../../../functions/workers/${workerData as string}.ts`)) as {
  handler: WorkerHandler;
};

port.on('message', (message: ToThread) => {
  if ('invocation' in message) {
    void invoke(message);
    return;
  }
  const { call, answer, error } = message;
  const waiting = calls.get(call)!;
  calls.delete(call);
  if (answer) waiting.resolve(answer);
  else waiting.reject(toError(error as Error));
});

function callMain(service: 'table' | 'sqs', command: { name: string; input: object }): Promise<object> {
  const call = ++ids;
  const waiting = Promise.withResolvers<object>();
  calls.set(call, waiting);
  port.postMessage({ call, service, command } satisfies FromThread);
  return waiting.promise;
}

async function invoke({ invocation, event, awsRequestId, milliseconds }: Extract<ToThread, { invocation: number }>) {
  const until = Date.now() + milliseconds;
  try {
    const answer = await handler(event, { awsRequestId, getRemainingTimeInMillis: () => until - Date.now() });
    port.postMessage({ invocation, answer } satisfies FromThread);
  } catch (error) {
    port.postMessage({ invocation, error: String(error) } satisfies FromThread);
  }
}

function toError({ name, message, ...fields }: Error): Error {
  const $metadata = { attempts: 1 };
  return name === 'ConditionalCheckFailedException'
    ? new ConditionalCheckFailedException({ message, $metadata, ...fields })
    : Object.assign(new Error(message), { name, ...fields });
}
