import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';
import { Id, IsoTime, list, OpenObject, optional, Text } from '../../shared/schema.ts';
import { type Change, merge } from '../../workspaces/rules/mergeConfig.ts';
import { EventTypeName } from '../../events/rules/triggers.ts';
import { liveSecrets, SigningSecret } from './secrets.ts';
import { WebhookUrl } from './urlField.ts';

/** How many endpoints an API key may have. */
export const MOST_ENDPOINTS = 200;
const MOST_FILTERS = 100;

/** An advanced webhook endpoint as it is stored; the times are epoch ms. */
export const WebhookEndpoint = z.object({
  endpointId: z.string(),
  url: z.string(),
  description: z.string().optional(),
  filterTypes: z.array(z.string()).optional(),
  channels: z.array(z.string()).optional(),
  disabled: z.boolean(),
  /** Since when, and whether a request or nothing but failures did it; while it is disabled, unless that was before this was kept. */
  disabling: z.object({ at: z.number(), by: z.enum(['request', 'failures']) }).optional(),
  rateLimit: z.number().optional(),
  uid: z.string().optional(),
  /** As JSON text. */
  metadata: z.string().optional(),
  /** Newest first. */
  secrets: z.array(SigningSecret),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type WebhookEndpoint = z.output<typeof WebhookEndpoint>;

/** Metadata: an object of texts, at most 64 KB; kept as it came, a key `__proto__` included. */
const Metadata = OpenObject.check(({ value, issues }) => {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string' || !text.isWellFormed())
      issues.push({ code: 'custom', input: text, path: [key], message: 'must be a string' });
  }
}).meta({ type: 'object', additionalProperties: { type: 'string' } }) as unknown as z.ZodType<Record<string, string>>;

/** The fields that a request may set, at creation and later (spec 4.3). */
const changeable = {
  description: optional(Text),
  filterTypes: optional(list(EventTypeName, MOST_FILTERS)),
  channels: optional(list(Id, MOST_FILTERS)),
  disabled: optional(z.boolean()),
  rateLimit: optional(z.int().min(1)),
  metadata: optional(Metadata),
};

/** What an endpoint is created with (spec 4.3). */
export const NewWebhookEndpoint = z.object({ url: WebhookUrl, ...changeable, uid: optional(Id) });

/** What of an endpoint may change: all but `uid`. */
export const WebhookEndpointChange = z.object({ url: optional(WebhookUrl), ...changeable });

/** The field `uid` of an update. */
export const FixedUid = optional(z.never({ error: 'must be left out: it is fixed when the endpoint is created' }));

/** Fields as they are stored: a type or channel that is named twice is named once. */
function storedFields({
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

/** A new endpoint, enabled unless it was asked to be disabled (spec 3). */
export function newEndpoint(
  { url, ...fields }: z.output<typeof NewWebhookEndpoint>,
  made: { endpointId: string; secret: SigningSecret; now: number },
): WebhookEndpoint {
  const { endpointId, secret, now } = made;
  return withDisabling(
    undefined,
    merge<WebhookEndpoint>(
      { endpointId, url, disabled: false, secrets: [secret], createdAt: now, updatedAt: now },
      storedFields(fields),
    ),
    now,
  );
}

/** An endpoint with the sent fields over it; the others keep their values (facts B3). Secrets whose time is over go. */
export function changeEndpoint(
  endpoint: WebhookEndpoint,
  change: z.output<typeof WebhookEndpointChange>,
  now: number,
): WebhookEndpoint {
  return withDisabling(
    endpoint,
    { ...merge(endpoint, storedFields(change)), secrets: liveSecrets(endpoint.secrets, now), updatedAt: now },
    now,
  );
}

/** An endpoint as a request leaves it, with since when it is disabled: since now, when it was not before. */
function withDisabling(
  before: WebhookEndpoint | undefined,
  { disabling, ...after }: WebhookEndpoint,
  now: number,
): WebhookEndpoint {
  if (!after.disabled) return after;
  const known = before?.disabled ? disabling : { at: now, by: 'request' as const };
  return { ...after, ...(known && { disabling: known }) };
}

/** An endpoint as answers show it: what is not set is null (spec 4.3). Neither metadata nor secrets are shown. */
export const WebhookEndpointResponse = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  filterTypes: z.array(z.string()).nullable(),
  channels: z.array(z.string()).nullable(),
  disabled: z.boolean(),
  rateLimit: z.number().nullable(),
  uid: z.string().nullable(),
  createdAt: IsoTime,
  updatedAt: IsoTime,
});

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
  const [createdAt, updatedAt] = [endpoint.createdAt, endpoint.updatedAt].map((at) => new Date(at).toISOString()) as [
    string,
    string,
  ];
  return { id, url, description, filterTypes, channels, disabled, rateLimit, uid, createdAt, updatedAt };
}

/** The answer to a call about an endpoint that does not exist, or not for this caller. It begins with the text that published clients know. */
export function unknownEndpoint(): ApiError {
  return new ApiError('NOT_FOUND', 'Advanced webhook provider request failed. No endpoint has this endpointId.');
}
