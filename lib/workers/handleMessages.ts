import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type * as z from 'zod';
import type { Uses } from '../app/capability.ts';
import { fieldName } from '../http/validate.ts';
import { type FromQueue, PermanentError, type WorkerCall, type WorkerRun } from '../app/worker.ts';
import { type Performed, withinTime } from './withinTime.ts';
import * as logMessages from '../observability/logMessages.ts';

/**
 * Runs a worker for each message of a batch, all at once, and answers which failed: these come again, the others are acknowledged.
 * A message that cannot be read fails as well, so that it ends in the dead-letter queue, where somebody can look at it.
 */
export async function handleMessages<U extends Uses>(
  schema: z.ZodType,
  run: WorkerRun<FromQueue, U>,
  event: SQSEvent,
  call: WorkerCall<U>,
): Promise<Performed> {
  let [failed, permanent] = [0, 0];
  const handle = async (record: SQSRecord) => {
    const receiveCount = Number(record.attributes.ApproximateReceiveCount);
    try {
      const message = read(schema, record.body);
      await withinTime(
        run({ ...call, message, receiveCount, sentAt: Number(record.attributes.SentTimestamp) }),
        call.deadline,
      );
    } catch (error) {
      const forGood = error instanceof PermanentError;
      call.log.error(logMessages.queueMessageFailed, {
        messageId: record.messageId,
        receiveCount,
        permanent: forGood,
        error,
      });
      if (forGood) return void permanent++;
      failed++;
      // Whatever was thrown: the processor takes it for an error.
      throw error instanceof Error ? error : new Error('Something was thrown that is no error', { cause: error });
    }
  };
  // A processor for each invocation: it keeps the state of a batch.
  const answer = await processPartialResponse(event, handle, new BatchProcessor(EventType.SQS), {
    throwOnFullBatchFailure: false,
  });
  return { answer, counts: { messages: event.Records.length, failed, permanent }, faults: failed + permanent };
}

/** The message in a body. What is wrong with it is told without its contents, for the log. */
function read(schema: z.ZodType, body: string): unknown {
  const parsed = schema.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `The message does not match its schema: ${fieldName(issue?.path as (string | number)[])} (${issue?.code})`,
  );
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // The parser's own message quotes the text.
    throw new Error('The message is not JSON');
  }
}
