import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type * as z from 'zod';
import type { Uses } from '../app/capability.ts';
import { type FromQueue, PermanentError, type WorkerCall, type WorkerRun } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { fieldName } from '../shared/errors.ts';
import { parseJson } from '../shared/parseJson.ts';
import { type InvocationResult, runUntil } from './runUntil.ts';

/**
 * Returns the failed messages, which SQS redelivers, except those that failed with `PermanentError`. A message that
 * does not match the schema fails too, so it ends in the dead-letter queue.
 */
export async function handleMessages<U extends Uses>(
  schema: z.ZodType,
  run: WorkerRun<FromQueue, U>,
  event: SQSEvent,
  call: WorkerCall<U>,
): Promise<InvocationResult> {
  let [failed, permanent] = [0, 0];
  const handle = async (record: SQSRecord) => {
    try {
      const message = parseMessage(schema, record.body);
      await runUntil(run({ ...call, message, sentAt: Number(record.attributes.SentTimestamp) }), call.deadline);
    } catch (error) {
      const isPermanent = error instanceof PermanentError;
      call.log.error(logMessages.queueMessageFailed, {
        messageId: record.messageId,
        receiveCount: Number(record.attributes.ApproximateReceiveCount),
        permanent: isPermanent,
        error,
      });
      if (isPermanent) return void permanent++;
      failed++;
      throw error instanceof Error
        ? error
        : new Error('The worker threw a value that is not an Error', { cause: error });
    }
  };
  // A batch processor keeps the state of one batch.
  const answer = await processPartialResponse(event, handle, new BatchProcessor(EventType.SQS), {
    throwOnFullBatchFailure: false,
  });
  return { answer, counts: { messages: event.Records.length, failed, permanent }, faults: failed + permanent };
}

/** Errors contain no text of the message, because they are logged. */
function parseMessage(schema: z.ZodType, body: string): unknown {
  const message = parseJson(body);
  if (message === undefined) throw new Error('The message is not JSON');
  const parsed = schema.safeParse(message);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `The message does not match its schema: ${fieldName(issue?.path as (string | number)[])} (${issue?.code})`,
  );
}
