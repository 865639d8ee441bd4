import { AwsEndpoint } from '../awsEndpoint.ts';
import { Gateway } from '../gateway/gateway.ts';
import { REGION } from '../iam/identity.ts';
import type { AccessKey } from '../iam/principals.ts';
import { EventApi } from '../live/eventApi.ts';
import type { LocalSettings } from '../settings.ts';
import type { Shutdown } from '../shutdown.ts';

/**
 * How long a shutdown waits for running requests and batches. Process managers usually wait longer before they kill.
 */
export const FINISH_MILLISECONDS = 8_000;

/** Their addresses stand in values of the templates. */
export interface Servers {
  readonly gateway: Gateway;
  readonly aws: AwsEndpoint;
  readonly eventApi: EventApi;
}

export async function listen({ port, allowedHosts }: LocalSettings, shutdown: Shutdown): Promise<Servers> {
  const gateway = await Gateway.listen(port, allowedHosts);
  shutdown.add(() => gateway.close(FINISH_MILLISECONDS));
  const aws = await AwsEndpoint.listen();
  shutdown.add(() => aws.close());
  const eventApi = await EventApi.listen();
  shutdown.add(() => eventApi.end());
  return { gateway, aws, eventApi };
}

/** Returns the variables with which the SDK calls this run instead of AWS. */
export function awsEnvironment({ aws, eventApi }: Servers, key: AccessKey): Record<string, string> {
  return {
    ...key,
    AWS_REGION: REGION,
    AWS_ENDPOINT_URL_APPSYNC: eventApi.url,
    AWS_ENDPOINT_URL_DYNAMODB: aws.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
    AWS_ENDPOINT_URL_SESV2: aws.mail.url,
    AWS_ENDPOINT_URL_SQS: aws.queues.url,
  };
}
