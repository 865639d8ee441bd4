import { hash } from 'node:crypto';
import { type Access, errorAnswer, jsonAnswer, type Service } from '../iam/awsService.ts';
import { ACCOUNT, queueArn } from '../iam/identity.ts';
import type { MessageAttribute, NewMessage, QueueStore, ReceivedMessage } from './queueStore.ts';

const MESSAGE_BYTES = 1024 * 1024;
const BATCH_ENTRIES = 10;
const MAX_DELAY_SECONDS = 900;
const MAX_WAIT_SECONDS = 20;
const MAX_VISIBILITY_SECONDS = 43_200;

interface Entry {
  readonly Id?: string;
  readonly MessageBody?: string;
  readonly MessageAttributes?: Record<string, MessageAttribute>;
  readonly MessageGroupId?: string;
  readonly DelaySeconds?: number;
  readonly ReceiptHandle?: string;
}

interface Input extends Entry {
  readonly QueueUrl?: string;
  readonly Entries?: readonly Entry[];
  readonly MaxNumberOfMessages?: number;
  readonly WaitTimeSeconds?: number;
  readonly VisibilityTimeout?: number;
}

class SqsError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Operation = (store: QueueStore, queue: string, input: Input, isAborted: () => boolean) => object | Promise<object>;

const operations: Readonly<Record<string, Operation>> = {
  SendMessage(store, queue, input) {
    const message = newMessage(input);
    const [MessageId] = store.send(queue, [message]);
    return { MessageId, MD5OfMessageBody: md5(message.body) };
  },

  SendMessageBatch(store, queue, input) {
    const entries = entriesOf(input);
    const total = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
    if (total > MESSAGE_BYTES)
      throw new SqsError(
        'BatchRequestTooLong',
        `Batch requests cannot be longer than ${MESSAGE_BYTES} bytes. You have sent ${total} bytes.`,
      );
    const accepted: { Id: string | undefined; message: NewMessage }[] = [];
    const Failed: object[] = [];
    for (const entry of entries) {
      const message = returnSqsError(() => newMessage(entry));
      if (message instanceof SqsError)
        Failed.push({ Id: entry.Id, SenderFault: true, Code: message.code, Message: message.message });
      else accepted.push({ Id: entry.Id, message });
    }
    const ids = store.send(
      queue,
      accepted.map(({ message }) => message),
    );
    return {
      Successful: accepted.map(({ Id, message }, index) => ({
        Id,
        MessageId: ids[index],
        MD5OfMessageBody: md5(message.body),
      })),
      Failed,
    };
  },

  async ReceiveMessage(store, queue, { MaxNumberOfMessages = 1, WaitTimeSeconds = 0, VisibilityTimeout }, isAborted) {
    requireRange('MaxNumberOfMessages', MaxNumberOfMessages, 1, BATCH_ENTRIES);
    requireRange('WaitTimeSeconds', WaitTimeSeconds, 0, MAX_WAIT_SECONDS);
    requireRange('VisibilityTimeout', VisibilityTimeout ?? 0, 0, MAX_VISIBILITY_SECONDS);
    const until = Date.now() + WaitTimeSeconds * 1000;
    for (;;) {
      const messages = store.receive(queue, MaxNumberOfMessages, VisibilityTimeout);
      if (messages.length > 0 || Date.now() >= until || isAborted()) return { Messages: messages.map(toApi) };
      await store.waitForMessage(queue, until - Date.now());
      // An aborted call must not receive again, because that would hide messages that no caller gets.
      if (isAborted()) return {};
    }
  },

  DeleteMessage(store, queue, { ReceiptHandle = '' }) {
    store.delete(queue, [ReceiptHandle]);
    return {};
  },

  DeleteMessageBatch(store, queue, input) {
    const entries = entriesOf(input);
    store.delete(
      queue,
      entries.map(({ ReceiptHandle = '' }) => ReceiptHandle),
    );
    return { Successful: entries.map(({ Id }) => ({ Id })), Failed: [] };
  },

  GetQueueAttributes(store, queue) {
    const { visible, inFlight, delayed } = store.counts(queue);
    return {
      Attributes: {
        QueueArn: queueArn(queue),
        VisibilityTimeout: String(store.existingQueue(queue).visibilitySeconds),
        ApproximateNumberOfMessages: String(visible),
        ApproximateNumberOfMessagesNotVisible: String(inFlight),
        ApproximateNumberOfMessagesDelayed: String(delayed),
      },
    };
  },
};

export function sqsAccesses(operation: string, { QueueUrl }: Input): Access[] {
  // IAM has no actions for batch operations. They need the action of the operation on one message.
  return [{ action: `sqs:${operation.replace(/Batch$/, '')}`, resource: queueArn(queueName(QueueUrl)) }];
}

export function sqs(store: QueueStore): Service {
  return {
    accesses: sqsAccesses,
    async answer({ operation, input, isAborted }) {
      const run = operations[operation];
      if (!run) return errorAnswer(400, 'UnknownOperationException', `The local SQS has no ${operation}`);
      const queue = queueName(input.QueueUrl);
      if (!store.queue(queue)) return errorAnswer(400, 'QueueDoesNotExist', 'The specified queue does not exist.');
      try {
        return jsonAnswer(await run(store, queue, input, isAborted));
      } catch (error) {
        if (!(error instanceof SqsError)) throw error;
        return errorAnswer(400, error.code, error.message);
      }
    },
  };
}

export function queueName(url: unknown): string {
  const text = String(url);
  return text.slice(text.lastIndexOf('/') + 1);
}

function newMessage(entry: Entry): NewMessage {
  const {
    MessageBody: body,
    MessageAttributes: attributes,
    MessageGroupId: groupId,
    DelaySeconds: delaySeconds,
  } = entry;
  if (!body) throw new SqsError('MissingParameter', 'The request must contain the parameter MessageBody.');
  // SQS rejects characters that are not allowed in XML 1.0.
  if (/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(body))
    throw new SqsError('InvalidMessageContents', 'Invalid characters found.');
  if (bytesOf(entry) > MESSAGE_BYTES)
    throw invalid(`One or more parameters are invalid. Reason: Message must be shorter than ${MESSAGE_BYTES} bytes.`);
  if (groupId !== undefined && !/^[\x21-\x7e]{1,128}$/.test(groupId))
    throw invalid('MessageGroupId must have 1 to 128 alphanumeric characters and punctuation.');
  requireRange('DelaySeconds', delaySeconds ?? 0, 0, MAX_DELAY_SECONDS);
  return { body, attributes, groupId, delaySeconds };
}

function bytesOf({ MessageBody = '', MessageAttributes = {} }: Entry): number {
  const attributes = Object.entries(MessageAttributes).flatMap(
    ([name, { DataType, StringValue = '', BinaryValue = '' }]) => {
      return [name, DataType, StringValue, Buffer.from(BinaryValue, 'base64')];
    },
  );
  return [MessageBody, ...attributes].reduce((sum, part) => sum + Buffer.byteLength(part), 0);
}

function entriesOf({ Entries = [] }: Input): readonly Entry[] {
  if (Entries.length === 0)
    throw new SqsError('EmptyBatchRequest', 'There should be at minimum one entry in the request.');
  if (Entries.length > BATCH_ENTRIES)
    throw new SqsError('TooManyEntriesInBatchRequest', `Maximum number of entries per request are ${BATCH_ENTRIES}.`);
  if (new Set(Entries.map(({ Id }) => Id)).size < Entries.length)
    throw new SqsError('BatchEntryIdsNotDistinct', 'Two or more batch entries have the same Id.');
  return Entries;
}

function requireRange(name: string, value: number, minimum: number, maximum: number): void {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return;
  throw invalid(`Value ${value} for parameter ${name} is invalid. Reason: Must be between ${minimum} and ${maximum}.`);
}

function invalid(message: string): SqsError {
  return new SqsError('InvalidParameterValue', message);
}

function returnSqsError<T>(make: () => T): T | SqsError {
  try {
    return make();
  } catch (error) {
    if (error instanceof SqsError) return error;
    throw error;
  }
}

/** Returns all attributes. SQS returns only the requested ones. */
function toApi(message: ReceivedMessage): object {
  const { id, receiptHandle, body, attributes } = message;
  return {
    MessageId: id,
    ReceiptHandle: receiptHandle,
    Body: body,
    MD5OfBody: md5(body),
    Attributes: systemAttributes(message),
    ...(Object.keys(attributes).length > 0 && { MessageAttributes: attributes }),
  };
}

export function systemAttributes({
  groupId,
  sentAt,
  receiveCount,
  firstReceivedAt,
}: ReceivedMessage): Record<string, string> {
  return {
    ApproximateReceiveCount: String(receiveCount),
    SentTimestamp: String(sentAt),
    SenderId: ACCOUNT,
    ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
    ...(groupId !== undefined && { MessageGroupId: groupId }),
  };
}

/** In hexadecimal. AWS clients verify bodies by it. */
export function md5(text: string): string {
  return hash('md5', text, 'hex');
}
