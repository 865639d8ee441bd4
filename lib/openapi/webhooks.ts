import type * as z from 'zod';
import {
  defaultWebhookTriggers,
  type EventType,
  eventTypes,
  type TriggerType,
  triggerTypes,
} from '../events/rules/catalogue.ts';
import { advancedPayload, basicPayload, type DeliverableEvent } from '../webhooks/rules/payloads.ts';
import { sampleEvent } from '../webhooks/rules/samples.ts';
import { eventTexts } from './eventTexts.ts';
import { type ComponentSchemas, type JsonSchema, jsonSchemaOf } from './jsonSchema.ts';
import type { Tag } from './tags.ts';
import { advancedSchema, basicSchema } from './webhookBodies.ts';

interface NamedExample {
  readonly summary: string;
  readonly value: unknown;
}

interface HeaderParameter {
  readonly name: string;
  readonly in: 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: string;
}

export interface WebhookOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly never[];
  readonly parameters: readonly HeaderParameter[];
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
  'An answer of 2xx within 15 s ends the delivery. Any other answer is a failed attempt, also a redirect. By default, a failed delivery has eight attempts in 27.6 hours.',
  'The same message can arrive twice, and messages arrive in any order. `webhook-id` identifies a message.',
  'The signature is made as in Standard Webhooks, over `<webhook-id>.<webhook-timestamp>.<body>`.',
].join(' ');

export const webhookTags: readonly Tag[] = [
  {
    name: ADVANCED,
    description: `Sent to the endpoints that /v2/workspace/advancedwebhook/endpoints/create creates. ${promises} The key is the part of the endpoint's secret after \`whsec_\`, decoded from base64.`,
  },
  {
    name: BASIC,
    description:
      `Sent to the two URLs of /v2/workspace/webhookconfig/update. The raw URL gets the stored event. The processed URL gets the event with names, filled-in templates and \`recipients\`. ${promises}` +
      ' The key is the configured `authToken`, which is also sent unchanged in `Authorization: Basic <authToken>`. Without a token, requests have no signature.',
  },
];

const webhookParameters = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The id of the message. Every attempt to send the message has the same id.',
    schema: { type: 'string' },
    example: 'msg_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'The time of this attempt, Unix time in seconds.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1768469400',
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'One signature per valid secret, separated by spaces. Each is `v1,` and the HMAC-SHA256 in base64. One matching signature is enough.',
    schema: { type: 'string' },
    example: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  },
  BasicWebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: false,
    description:
      '`v1,` and the HMAC-SHA256 in base64, with the bytes of the `authToken` as its key. Not sent without a token.',
    schema: { type: 'string' },
    example: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  },
} as const;

const base64 = (description: string): JsonSchema => ({ type: 'string', description, contentEncoding: 'base64' });

export const wrappedBodies: Readonly<Record<string, JsonSchema>> = {
  EncodedWebhook: {
    type: 'object',
    description: 'The body if `encodeData` is on: the JSON text of the plain body, in base64.',
    properties: {
      encodedPayload: {
        type: 'string',
        description: 'The plain body: decode it from base64, then parse it as JSON.',
        contentEncoding: 'base64',
        contentMediaType: 'application/json',
      },
    },
    required: ['encodedPayload'],
  },
  EncryptedWebhook: {
    type: 'object',
    description:
      'The body if `encryptData` is on: the JSON text of the plain body, encrypted with AES-256-CBC, and the key, encrypted with RSA-OAEP and SHA-256.',
    properties: {
      encryptedData: base64('The plain body, encrypted with AES-256-CBC.'),
      encryptedKey: base64('The key of `encryptedData`, encrypted with your `publicKey` by RSA-OAEP with SHA-256.'),
      iv: base64('The initialization vector of `encryptedData`, 16 bytes.'),
    },
    required: ['encryptedData', 'encryptedKey', 'iv'],
  },
};

export function webhooks(components: ComponentSchemas): Webhooks {
  const schemaOf = (schema: z.ZodType) => jsonSchemaOf(schema, components);
  const advanced = eventTypes.map((event) => [event, advancedWebhook(event, schemaOf(advancedSchema(event)))] as const);
  const basic = triggerTypes.map(
    (event) => [`basic.${event}`, basicWebhook(event, schemaOf(basicSchema(event)))] as const,
  );
  return Object.fromEntries([...advanced, ...basic].map(([name, post]) => [name, { post }]));
}

const SELECTED = 'Sent to the enabled endpoints whose `filterTypes` and `channels` select it.';

function triggered(event: TriggerType): string {
  return `Sent if its trigger is on. By default the trigger is ${defaultWebhookTriggers[event] === true ? 'on' : 'off'}.`;
}

function advancedWebhook(event: EventType, schema: JsonSchema): WebhookOperation {
  const names = {
    operationId: `webhooks.${event}`,
    tag: ADVANCED,
    signature: 'WebhookSignature',
    receivers: SELECTED,
  } as const;
  return operation(event, names, schema, {
    plain: {
      summary: 'If enableDataProtection is off',
      value: JSON.parse(advancedPayload(sample(event), { config: {} })),
    },
    protected: {
      summary: 'If enableDataProtection is on',
      value: JSON.parse(advancedPayload(sample(event), { config: { enableDataProtection: true } })),
    },
  });
}

function basicWebhook(event: TriggerType, schema: JsonSchema): WebhookOperation {
  const enrichment = {
    organizationName: 'Acme',
    documentName: 'Notes on the engine',
    recipients: [{ userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }],
  };
  const names = {
    operationId: `basicWebhooks.${event}`,
    tag: BASIC,
    signature: 'BasicWebhookSignature',
    receivers: triggered(event),
  } as const;
  return operation(event, names, schema, {
    raw: { summary: 'At rawNotificationUrl', value: JSON.parse(basicPayload(sample(event), { config: {} })) },
    processed: {
      summary: 'At processedNotificationUrl',
      value: JSON.parse(basicPayload(sample(event), { config: {}, enrichment })),
    },
  });
}

interface OperationNames {
  readonly operationId: string;
  readonly tag: string;
  readonly signature: keyof typeof webhookParameters;
  readonly receivers: string;
}

function operation(
  event: EventType,
  { operationId, tag, signature, receivers }: OperationNames,
  schema: JsonSchema,
  examples: Readonly<Record<string, NamedExample>>,
): WebhookOperation {
  const wrapped = Object.keys(wrappedBodies).map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return {
    operationId,
    tags: [tag],
    summary: eventTexts[event].cause,
    description: `${eventTexts[event].audience} ${receivers}`,
    security: [],
    // Generators do not read the references of webhooks to parameters.
    parameters: [webhookParameters.WebhookId, webhookParameters.WebhookTimestamp, webhookParameters[signature]],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { anyOf: [schema, ...wrapped] }, examples } },
    },
    responses: {
      '2XX': { description: 'The attempt succeeds. `attempts/get` returns the first 1 KB of the body.' },
      default: { description: 'The attempt fails.' },
    },
  };
}

/** With the payload that /v2/workspace/advancedwebhook/endpoints/test sends. */
function sample(event: EventType): DeliverableEvent {
  return {
    eventId: 'msg_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
    event,
    createdAt: Date.UTC(2026, 0, 15, 9, 30),
    payload: sampleEvent(event, 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ').payload,
  };
}
