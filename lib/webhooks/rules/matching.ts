import type { BasicWebhookConfig } from './basic.ts';
import type { WebhookEndpoint } from './endpoints.ts';

/** What an event has that endpoints choose by. */
export interface Matched {
  readonly event: string;
  readonly channels?: readonly string[] | undefined;
}

/**
 * Whether an endpoint gets an event (spec 6 rule 3, deliveries 2.4): it is not disabled, has no filter or one that names the type, and
 * no channels or one of the event's. An endpoint with channels does not get what has none.
 */
export function matches(
  { event, channels = [] }: Matched,
  endpoint: Pick<WebhookEndpoint, 'disabled' | 'filterTypes' | 'channels'>,
): boolean {
  if (endpoint.disabled) return false;
  if (endpoint.filterTypes && !endpoint.filterTypes.includes(event)) return false;
  return !endpoint.channels || endpoint.channels.some((channel) => channels.includes(channel));
}

/** The two URLs of basic webhooks are endpoints like any other, with ids that no other has: by id, the field of the URL. */
export const basicTargets = {
  ep_basic_raw: 'rawNotificationUrl',
  ep_basic_processed: 'processedNotificationUrl',
} as const;
export type BasicTargetId = keyof typeof basicTargets;

export function isBasicTarget(endpointId: string): endpointId is BasicTargetId {
  return Object.hasOwn(basicTargets, endpointId);
}

/** The URL of basic webhooks behind such an id; undefined while they are off or there is no URL. */
export function basicUrl(
  { useWebhookService, webhookServiceConfig }: BasicWebhookConfig,
  endpointId: BasicTargetId,
): string | undefined {
  return (useWebhookService && webhookServiceConfig[basicTargets[endpointId]]) || undefined;
}

/** The basic targets that get an event: those with a URL, when the trigger of its type is on (spec 4.7, 6 rule 2). */
export function matchingBasicTargets({ event }: Matched, config: BasicWebhookConfig | undefined): BasicTargetId[] {
  const { triggers = {} } = config?.webhookServiceConfig ?? {};
  if (!config || !Object.hasOwn(triggers, event) || !triggers[event]) return [];
  return (Object.keys(basicTargets) as BasicTargetId[]).filter(
    (endpointId) => basicUrl(config, endpointId) !== undefined,
  );
}
