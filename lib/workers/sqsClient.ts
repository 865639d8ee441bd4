import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../app/sdkSettings.ts';
import { lazy } from '../shared/lazy.ts';

export const openSqs: () => SQSClient = /* @__PURE__ */ lazy(
  // By default, the client ignores the endpoint in the environment.
  () => new SQSClient({ ...clientSettings, useQueueUrlAsEndpoint: false }),
);
