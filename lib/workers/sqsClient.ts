import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../app/sdkSettings.ts';

let client: SQSClient | undefined;

/** Returns the SQS client that the whole process uses. */
export function openSqs(): SQSClient {
  // By default, the client sends to the host in the queue's address, and not to the endpoint in the environment.
  client ??= new SQSClient({ ...clientSettings, useQueueUrlAsEndpoint: false });
  return client;
}
