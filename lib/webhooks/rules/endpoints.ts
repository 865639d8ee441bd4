import * as z from 'zod';
import { EventTypeName } from '../../events/rules/triggers.ts';
import { distinct, isObject } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';
import { isoTime } from '../../shared/isoTime.ts';
import {
  defineNamedSchema,
  defineSchema,
  Id,
  IsoTime,
  list,
  OpenObject,
  optional,
  Text,
  withRefusal,
} from '../../shared/schema.ts';
import { type Change, merge } from '../../workspaces/rules/mergeConfig.ts';
import { liveSecrets, SigningSecret } from './secrets.ts';
import { WebhookUrl } from './urlField.ts';

export const MAX_ENDPOINTS = 200;
const MAX_FILTERS = 100;

export const WebhookEndpoint = /* @__PURE__ */ defineSchema(() =>
  z.object({
    endpointId: z.string(),
    url: z.string(),
    description: z.string().optional(),
    filterTypes: z.array(z.string()).optional(),
    channels: z.array(z.string()).optional(),
    disabled: z.boolean(),
    /** Absent while the endpoint is enabled, and if it was disabled before this field existed. */
    disabling: z.object({ at: z.number(), by: z.enum(['request', 'failures']) }).optional(),
    rateLimit: z.number().optional(),
    uid: z.string().optional(),
    metadata: z.string().optional(),
    secrets: z.array(SigningSecret),
    createdAt: z.number(),
    updatedAt: z.number(),
  }),
);
export type WebhookEndpoint = z.output<typeof WebhookEndpoint>;

const Metadata = /* @__PURE__ */ defineSchema(
  () =>
    OpenObject.check(({ value, issues }) => {
      if (!isObject(value)) return;
      for (const [key, text] of Object.entries(value)) {
        if (typeof text !== 'string' || !text.isWellFormed())
          issues.push({ code: 'custom', input: text, path: [key], message: 'must be a string' });
      }
    }).meta({ type: 'object', additionalProperties: { type: 'string' } }) as unknown as z.ZodType<
      Record<string, string>
    >,
);

const texts = {
  url: 'The http(s) URL that gets events. Loopback, private and reserved addresses are refused. `user:password@` is sent as an `Authorization` header.',
  description: 'A note of your own about the receiver.',
  filterTypes:
    'The types of events that the endpoint gets. By default all. A set filter can be changed, but not removed.',
  channels:
    'The endpoint gets only events with one of these channels. By default all events. Set channels can be changed, but not removed.',
  disabled:
    'Whether the endpoint gets nothing. The service sets it after five days of failures without one success. By default false.',
  rateLimit: 'The most attempts per second. Further deliveries are delayed, never dropped. By default without limit.',
  uid: 'Your own id of the endpoint. It is unique in the API key and cannot be changed.',
} as const;

const changeable = /* @__PURE__ */ defineSchema(() => ({
  description: optional(Text).describe(texts.description),
  filterTypes: optional(list(EventTypeName, MAX_FILTERS)).describe(texts.filterTypes),
  channels: optional(list(Id, MAX_FILTERS)).describe(texts.channels),
  disabled: optional(z.boolean()).describe(texts.disabled),
  rateLimit: optional(z.int().min(1)).describe(texts.rateLimit),
  metadata: optional(Metadata).describe('Texts of your own. They are stored, but no answer contains them.'),
}));

export const NewWebhookEndpoint = /* @__PURE__ */ defineSchema(() =>
  z.object({ url: WebhookUrl.describe(texts.url), ...changeable, uid: optional(Id).describe(texts.uid) }),
);

export const WebhookEndpointChange = /* @__PURE__ */ defineSchema(() =>
  z.object({ url: optional(WebhookUrl).describe(texts.url), ...changeable }),
);

export const FixedUid = /* @__PURE__ */ defineSchema(() => {
  const message = 'must be left out: it is fixed when the endpoint is created';
  return optional(withRefusal(z.never({ error: message }), { values: 'any', message }));
});

function toStoredFields({
  filterTypes,
  channels,
  metadata,
  ...fields
}: z.output<typeof WebhookEndpointChange> & { uid?: string | undefined }): Change<WebhookEndpoint> {
  return {
    ...fields,
    filterTypes: filterTypes && distinct(filterTypes),
    channels: channels && distinct(channels),
    metadata: metadata && JSON.stringify(metadata),
  };
}

export function newEndpoint(
  { url, ...fields }: z.output<typeof NewWebhookEndpoint>,
  made: { endpointId: string; secret: SigningSecret; now: number },
): WebhookEndpoint {
  const { endpointId, secret, now } = made;
  return withDisabling(
    undefined,
    merge<WebhookEndpoint>(
      { endpointId, url, disabled: false, secrets: [secret], createdAt: now, updatedAt: now },
      toStoredFields(fields),
    ),
    now,
  );
}

/** Fields that are not sent stay. Expired secrets are removed. */
export function changeEndpoint(
  endpoint: WebhookEndpoint,
  change: z.output<typeof WebhookEndpointChange>,
  now: number,
): WebhookEndpoint {
  return withDisabling(
    endpoint,
    { ...merge(endpoint, toStoredFields(change)), secrets: liveSecrets(endpoint.secrets, now), updatedAt: now },
    now,
  );
}

function withDisabling(
  before: WebhookEndpoint | undefined,
  { disabling, ...after }: WebhookEndpoint,
  now: number,
): WebhookEndpoint {
  if (!after.disabled) return after;
  const since = before?.disabled ? disabling : { at: now, by: 'request' as const };
  return { ...after, ...(since && { disabling: since }) };
}

export const WebhookEndpointResponse = /* @__PURE__ */ defineNamedSchema('WebhookEndpoint', () =>
  z
    .object({
      id: z.string().describe('The `endpointId` of other calls.'),
      url: z.string().describe(texts.url),
      description: z.string().nullable().describe(texts.description),
      filterTypes: z.array(z.string()).nullable().describe(texts.filterTypes),
      channels: z.array(z.string()).nullable().describe(texts.channels),
      disabled: z.boolean().describe(texts.disabled),
      rateLimit: z.number().nullable().describe(texts.rateLimit),
      uid: z.string().nullable().describe(texts.uid),
      createdAt: IsoTime.describe('When the endpoint was created, in ISO 8601.'),
      updatedAt: IsoTime.describe('When the endpoint was last changed, in ISO 8601.'),
    })
    .describe('A receiver of advanced webhooks. Fields that were never set are null.'),
);

export function toEndpointResponse(endpoint: WebhookEndpoint): z.output<typeof WebhookEndpointResponse> {
  const {
    endpointId: id,
    url,
    description = null,
    filterTypes = null,
    channels = null,
    disabled,
    rateLimit = null,
    uid = null,
  } = endpoint;
  const [createdAt, updatedAt] = [isoTime(endpoint.createdAt), isoTime(endpoint.updatedAt)];
  return { id, url, description, filterTypes, channels, disabled, rateLimit, uid, createdAt, updatedAt };
}

/** Existing clients compare the first sentence of the message, so it must not change. */
export function endpointNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Advanced webhook provider request failed. No endpoint has this endpointId.');
}
