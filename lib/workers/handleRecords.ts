import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Uses } from '../app/capability.ts';
import type { ChangedItem, InsertedItem, WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { lazy } from '../shared/lazy.ts';
import { type InvocationResult, runUntil } from './runUntil.ts';

const changes = { INSERT: 'insert', MODIFY: 'modify', REMOVE: 'remove' } as const;

/** Lambda repeats the batch from the first failed record, and splits the batch if `run` throws. */
export async function handleRecords<U extends Uses, R>(
  run: (call: WorkerCall<U> & { readonly records: readonly R[] }) => Promise<readonly string[]>,
  toItem: (record: DynamoDBRecord) => R,
  { Records }: DynamoDBStreamEvent,
  call: WorkerCall<U>,
): Promise<InvocationResult> {
  const failed = await runUntil(run({ ...call, records: Records.map(toItem) }), call.deadline);
  for (const recordId of failed) call.log.error(logMessages.streamRecordFailed, { recordId });
  return {
    answer: { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) },
    counts: { records: Records.length, failed: failed.length },
    faults: failed.length,
  };
}

export function toInserted({ dynamodb = {} }: DynamoDBRecord): InsertedItem {
  const item = unmarshall(dynamodb.NewImage as Record<string, AttributeValue>);
  return {
    id: dynamodb.SequenceNumber ?? '',
    key: { PK: String(item.PK), SK: String(item.SK) },
    item,
    createdAt: (dynamodb.ApproximateCreationDateTime ?? 0) * 1000,
  };
}

export function toChanged({ eventName = 'INSERT', eventSourceARN = '', dynamodb = {} }: DynamoDBRecord): ChangedItem {
  const { Keys, NewImage, OldImage, SequenceNumber = '', ApproximateCreationDateTime = 0 } = dynamodb;
  const { PK, SK } = unmarshall(Keys as Record<string, AttributeValue>);
  return {
    id: SequenceNumber,
    stream: eventSourceARN.slice(eventSourceARN.lastIndexOf('/') + 1),
    change: changes[eventName],
    key: { PK: String(PK), SK: String(SK) },
    item: NewImage && unmarshall(NewImage as Record<string, AttributeValue>),
    before: lazy(() => OldImage && unmarshall(OldImage as Record<string, AttributeValue>)),
    at: ApproximateCreationDateTime * 1000,
  };
}
