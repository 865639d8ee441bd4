import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../app/sdkSettings.ts';

let client: SQSClient | undefined;

/** Returns the one SQS client of the process. */
export function openSqs(): SQSClient {
  // By default, the client prefers the host of the queue's address to the endpoint of the environment.
  client ??= new SQSClient({ ...clientSettings, useQueueUrlAsEndpoint: false });
  return client;
}
