import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';

let client: BedrockRuntimeClient | undefined;

/**
 * The process's one client of Amazon Bedrock, made at the first call. It asks once: whoever calls it knows how long there is to try again,
 * and ends a call by its `abortSignal`. Each call has a connection of its own, as this client has unless told otherwise: one that was kept
 * while the function slept would swallow the first calls after.
 */
export function openBedrock(): BedrockRuntimeClient {
  client ??= new BedrockRuntimeClient({ maxAttempts: 1 });
  return client;
}
