import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../app/sdkSettings.ts';

let client: SQSClient | undefined;

/** The process's one client of SQS, made at the first call. */
export function openSqs(): SQSClient {
  // Unless it is told not to, this client prefers the host in a queue's address to the endpoint that the environment sets.
  client ??= new SQSClient({ ...clientSettings, useQueueUrlAsEndpoint: false });
  return client;
}
