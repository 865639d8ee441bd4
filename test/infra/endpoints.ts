import * as z from 'zod';
import { registeredRoutes } from '../../infra/build/registry.ts';
import { queueNames } from '../../infra/constructs/queues.ts';
import { type Capability, indexNames, vectorIndexNames } from '../../lib/app/capability.ts';
import { defineEndpoint, type Endpoint } from '../../lib/app/endpoint.ts';
import { isTwin } from '../../lib/app/page.ts';

const everything: Capability<undefined> = {
  grants: [
    { resource: 'table', actions: ['DeleteItem', 'GetItem'] },
    { resource: 'table', actions: ['GetItem', 'PutItem'] },
    ...indexNames.map((index) => ({ resource: `index/${index}`, actions: ['Query'] }) as const),
    ...vectorIndexNames.map((index) => ({ resource: `index/${index}`, actions: ['SearchVectors'] }) as const),
    ...(['claude', 'embedding', 'nova'] as const).map(
      (model) => ({ resource: `model/${model}`, actions: ['InvokeModel'] }) as const,
    ),
    ...queueNames.map((name) => ({ resource: `queue/${name}`, actions: ['SendMessage'] }) as const),
    { resource: 'secret/masterKey', actions: ['GetSecretValue'] },
    { resource: 'secret/signingKey', actions: ['GetSecretValue'] },
    { resource: 'secret/permissionKey', actions: ['GetSecretValue'] },
    { resource: 'mail/identity', actions: ['SendEmail'] },
  ],
  env: [
    'CLAUDE_MODEL_ID',
    'EMBEDDING_MODEL',
    'EMBED_QUEUE_URL',
    'NOVA_MODEL_ID',
    'DELIVER_QUEUE_URL',
    'DELIVER_SLOW_QUEUE_URL',
    'DUE_MARGIN_SECONDS',
    'EMAIL_STATUS_PER_MINUTE_PER_ADDRESS',
    'EMAIL_STATUS_PER_MINUTE_PER_EMAIL',
    'JOBS_QUEUE_URL',
    'LOGIN_LINKS_PER_HOUR_PER_EMAIL',
    'MAILS_PER_RECIPIENT_PER_HOUR',
    'MAILS_PER_WRITER_PER_HOUR',
    'MAIL_FROM',
    'MAIL_QUEUE_URL',
    'MAIL_RETRY_SCHEDULE',
    'PUBLIC_URL',
    'RECONCILE_AFTER_SECONDS',
    'SWEEP_QUEUE_URL',
    'WEBHOOK_RETRY_SCHEDULE',
    'TABLE_NAME',
    'MASTER_KEY_SECRET_ARN',
    'SIGNING_KEY_SECRET_ARN',
    'SLACK_API_URL',
    'PERMISSION_KEY_SECRET_ARN',
    'UNVERIFIED_GRACE_DAYS',
    'WORKSPACE_CREATION',
    'WORKSPACE_CREATION_PER_MINUTE',
  ],
  open: () => undefined,
};

/** An endpoint that has every grant. It covers grants that no registered endpoint uses yet. */
export const greedy: Endpoint = defineEndpoint(
  {
    path: '/v2/everything/get',
    summary: 'Uses everything',
    auth: 'none',
    kind: 'read',
    input: z.object({}),
    output: z.object({}),
    message: 'Done',
    errors: [],
    uses: { everything },
    impact: 'nobody is missing anything',
    example: { data: {}, result: {} },
    timeoutSeconds: 10,
    memoryMb: 3_008,
  },
  async () => ({}),
);

/** The settings of a deployment with its own domain. */
export const domainName = 'api.example.com';
export const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-000000000000';

/** The endpoints and pages of a deployment with the default settings. */
export const registered = registeredRoutes().filter((route) => !('requires' in route));

/** The routes that have their own function. A twin shares the function of its endpoint. */
export const ownFunctions = registered.filter((endpoint) => !isTwin(endpoint));
