import type * as z from 'zod';
import { type EventType, eventTypes, triggerTypes } from '../events/rules/catalogue.ts';
import { sampleEvent } from '../events/rules/samples.ts';
import { advancedSchema, basicSchema, sharedSchemas } from '../events/rules/schemas.ts';
import { advancedPayload, basicPayload, type DeliverableEvent } from '../webhooks/rules/payloads.ts';
import { jsonSchemaOf, type JsonSchema } from './jsonSchema.ts';
import type { Tag } from './tags.ts';

interface Reference {
  readonly $ref: string;
}

interface NamedExample {
  readonly summary: string;
  readonly value: unknown;
}

/** The operation of a webhook: a request that the service sends for an event. */
export interface WebhookOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly never[];
  readonly parameters: readonly Reference[];
  readonly requestBody: {
    readonly required: true;
    readonly content: {
      readonly 'application/json': {
        readonly schema: JsonSchema;
        readonly examples: Readonly<Record<string, NamedExample>>;
      };
    };
  };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

export type Webhooks = Readonly<Record<string, { readonly post: WebhookOperation }>>;

const ADVANCED = 'Advanced webhooks';
const BASIC = 'Basic webhooks';

const promises = [
  'An answer of 2xx within 15 s ends the delivery; anything else, a redirect too, is a failed attempt, and is tried again for a day and a half.',
  'The same message can come twice and messages come in any order: tell them apart by `webhook-id`.',
  'The signature is that of Standard Webhooks, over `<webhook-id>.<webhook-timestamp>.<body>`.',
].join(' ');

export const webhookTags: readonly Tag[] = [
  {
    name: ADVANCED,
    description: `What the endpoints get that /v2/workspace/advancedwebhook/endpoints/create makes. ${promises} The key is what follows \`whsec_\` in the endpoint's secret, decoded from base64.`,
  },
  {
    name: BASIC,
    description:
      `What the two URLs of /v2/workspace/webhookconfig/update get: the raw one the event as it is stored, the processed one with names, filled-in templates and \`recipients\`. ${promises}` +
      ' The key is the configured `authToken`, which also comes as it is in `Authorization: Basic <authToken>`; without a token nothing is signed.',
  },
];

export const webhookParameters = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The message id: the same for every attempt and every repetition.',
    schema: { type: 'string' },
    example: 'msg_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'When this attempt was made, Unix time in seconds.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1768469400',
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'One signature per secret that is valid, divided by spaces: `v1,` and the HMAC-SHA256 in base64. One that matches is enough.',
    schema: { type: 'string' },
    example: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  },
  BasicWebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: false,
    description:
      '`v1,` and the HMAC-SHA256 in base64, with the bytes of the `authToken` as its key; not there without a token.',
    schema: { type: 'string' },
    example: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  },
} as const;

const wrapped: Readonly<Record<string, JsonSchema>> = {
  EncodedWebhook: {
    type: 'object',
    description: 'The body while `encodeData` is on: what is described beside it, as JSON text in base64.',
    properties: { encodedPayload: { type: 'string', contentEncoding: 'base64', contentMediaType: 'application/json' } },
    required: ['encodedPayload'],
  },
  EncryptedWebhook: {
    type: 'object',
    description:
      'The body while `encryptData` is on: what is described beside it, as JSON text under AES-256-CBC, and the key under RSA-OAEP with SHA-256.',
    properties: {
      encryptedData: { type: 'string', contentEncoding: 'base64' },
      encryptedKey: { type: 'string', contentEncoding: 'base64' },
      iv: { type: 'string', contentEncoding: 'base64' },
    },
    required: ['encryptedData', 'encryptedKey', 'iv'],
  },
};

/** Returns the schemas that webhooks refer to. */
export function webhookSchemas(): Record<string, JsonSchema> {
  return {
    ...wrapped,
    ...Object.fromEntries([...sharedSchemas].map(([schema, name]) => [name, jsonSchemaOf(schema, sharedSchemas)])),
  };
}

/** Returns the webhooks: an advanced one for each event type, named after the type, and a basic one for each trigger, `basic.<type>`. */
export function webhooks(): Webhooks {
  const advanced = eventTypes.map((event) => [event, advancedWebhook(event)] as const);
  const basic = triggerTypes.map((event) => [`basic.${event}`, basicWebhook(event)] as const);
  return Object.fromEntries([...advanced, ...basic].map(([name, post]) => [name, { post }]));
}

function advancedWebhook(event: EventType): WebhookOperation {
  return operation(`webhooks.${event}`, ADVANCED, event, advancedSchema(event), 'WebhookSignature', {
    plain: { summary: 'As it is', value: JSON.parse(advancedPayload(sample(event), { config: {} })) },
    protected: {
      summary: 'With enableDataProtection',
      value: JSON.parse(advancedPayload(sample(event), { config: { enableDataProtection: true } })),
    },
  });
}

function basicWebhook(event: EventType): WebhookOperation {
  const enrichment = {
    organizationName: 'Acme',
    documentName: 'Notes on the engine',
    recipients: [{ userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }],
  };
  return operation(`basicWebhooks.${event}`, BASIC, event, basicSchema(event), 'BasicWebhookSignature', {
    raw: { summary: 'At rawNotificationUrl', value: JSON.parse(basicPayload(sample(event), { config: {} })) },
    processed: {
      summary: 'At processedNotificationUrl',
      value: JSON.parse(basicPayload(sample(event), { config: {}, enrichment })),
    },
  });
}

function operation(
  operationId: string,
  tag: string,
  event: EventType,
  schema: z.ZodType,
  signature: keyof typeof webhookParameters,
  examples: Readonly<Record<string, NamedExample>>,
): WebhookOperation {
  const refs = ['EncodedWebhook', 'EncryptedWebhook'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return {
    operationId,
    tags: [tag],
    summary: `Tells of ${event}`,
    security: [],
    parameters: ['WebhookId', 'WebhookTimestamp', signature].map((name) => ({
      $ref: `#/components/parameters/${name}`,
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { anyOf: [jsonSchemaOf(schema, sharedSchemas), ...refs] }, examples } },
    },
    responses: {
      '2XX': { description: 'It has come; its body is not read.' },
      default: { description: 'A failed attempt.' },
    },
  };
}

/** Returns the event that /v2/workspace/advancedwebhook/endpoints/test sends. */
function sample(event: EventType): DeliverableEvent {
  return {
    eventId: 'msg_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
    event,
    createdAt: Date.UTC(2026, 0, 15, 9, 30),
    payload: sampleEvent(event, 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ').payload,
  };
}
