import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Uses } from '../app/capability.ts';
import type { FromInserts, InsertedItem, WorkerCall, WorkerRun } from '../app/worker.ts';
import { type InvocationResult, runUntil } from './runUntil.ts';
import * as logMessages from '../observability/logMessages.ts';

/**
 * Runs a worker for a batch of stream records. Returns the failed records, and Lambda repeats the batch from the first of them.
 * Throws if `run` throws. Lambda then splits the batch.
 */
export async function handleInserts<U extends Uses>(
  run: WorkerRun<FromInserts, U>,
  { Records }: DynamoDBStreamEvent,
  call: WorkerCall<U>,
): Promise<InvocationResult> {
  const failed = await runUntil(run({ ...call, records: Records.map(toInserted) }), call.deadline);
  for (const recordId of failed) call.log.error(logMessages.streamRecordFailed, { recordId });
  return {
    answer: { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) },
    counts: { records: Records.length, failed: failed.length },
    faults: failed.length,
  };
}

function toInserted({ dynamodb = {} }: DynamoDBRecord): InsertedItem {
  const item = unmarshall(dynamodb.NewImage as Record<string, AttributeValue>);
  return {
    id: dynamodb.SequenceNumber ?? '',
    key: { PK: String(item.PK), SK: String(item.SK) },
    item,
    createdAt: (dynamodb.ApproximateCreationDateTime ?? 0) * 1000,
  };
}
