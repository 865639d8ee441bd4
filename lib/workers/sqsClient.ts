import { SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../app/sdkSettings.ts';
import { lazy } from '../shared/lazy.ts';

export const openSqs: () => SQSClient = /* @__PURE__ */ lazy(
  // By default, the client sends to the host in the queue's address. With this setting, it sends to the endpoint in the
  // environment.
  () => new SQSClient({ ...clientSettings, useQueueUrlAsEndpoint: false }),
);
