import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../app/sdkSettings.ts';

let client: SQSClient | undefined;

/** Returns the SQS client of the process. */
export function openSqs(): SQSClient {
  // By default, the client sends to the host in the queue's address. With this setting, it sends to the endpoint in the
  // environment.
  client ??= new SQSClient({ ...clientSettings, useQueueUrlAsEndpoint: false });
  return client;
}
