import { SQSClient } from '@aws-sdk/client-sqs';

let client: SQSClient | undefined;

/** The process's one client of SQS, made at the first call. */
export function openSqs(): SQSClient {
  // Unless it is told not to, this client prefers the host in a queue's address to the endpoint that the environment sets.
  client ??= new SQSClient({ maxAttempts: 3, requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 }, useQueueUrlAsEndpoint: false });
  return client;
}
