import { randomUUID } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent, SQSEvent, StreamRecord } from 'aws-lambda';
import type { CountedMetric, RecordedMetric } from '../../lib/observability/deliveryMetrics.ts';
import type { Measures } from '../../lib/observability/measures.ts';

/** Returns the Lambda context of an invocation that has this time left. */
export function lambdaContext(remainingMilliseconds = 30_000) {
  const end = Date.now() + remainingMilliseconds;
  return { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => end - Date.now() };
}

/**
 * Returns the Lambda event for a batch of queue messages. Bodies that are not strings are converted to JSON. The
 * message ids are `message-0`, `message-1` and so on.
 */
export function messagesEvent(bodies: readonly unknown[], { receiveCount = 1, sentAt = Date.now() } = {}): SQSEvent {
  return {
    Records: bodies.map((body, index) => ({
      messageId: `message-${index}`,
      receiptHandle: `receipt-${index}`,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      attributes: {
        ApproximateReceiveCount: String(receiveCount),
        SentTimestamp: String(sentAt),
        SenderId: 'sender',
        ApproximateFirstReceiveTimestamp: String(sentAt),
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
      awsRegion: 'us-east-1',
    })),
  };
}

/** Returns the Lambda event for inserted items. The ids of its records are `1`, `2` and so on. */
export function insertsEvent(items: readonly Record<string, unknown>[], createdAt = Date.now()): DynamoDBStreamEvent {
  const image = (item: Record<string, unknown>): Record<string, AttributeValue> =>
    JSON.parse(JSON.stringify(marshall(item, { removeUndefinedValues: true }), base64));
  return {
    Records: items.map((item, index) => ({
      eventID: randomUUID(),
      eventName: 'INSERT',
      eventSource: 'aws:dynamodb',
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(createdAt / 1000),
        Keys: image({ PK: item.PK, SK: item.SK }),
        NewImage: image(item),
        SequenceNumber: String(index + 1),
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      } as StreamRecord,
    })),
  };
}

/** Converts bytes to base64, as Lambda does. To be used as the replacer of `JSON.stringify`. */
function base64(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** A log that writes nothing. */
export const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Returns measures that only keep the values in memory. */
export function recordingMeasures(): Measures & {
  readonly counted: Map<CountedMetric, number>;
  readonly recorded: Map<RecordedMetric, number[]>;
} {
  const counted = new Map<CountedMetric, number>();
  const recorded = new Map<RecordedMetric, number[]>();
  return {
    counted,
    recorded,
    count: (name, times = 1) => void counted.set(name, (counted.get(name) ?? 0) + times),
    record: (name, value) => void recorded.set(name, [...(recorded.get(name) ?? []), value]),
  };
}
