import type { BasicWebhookConfig } from './basic.ts';
import type { WebhookEndpoint } from './endpoints.ts';

/** The fields of an event that endpoints filter by. */
export interface MatchedEvent {
  readonly event: string;
  readonly channels?: readonly string[] | undefined;
}

/**
 * Whether an endpoint receives an event. It must be enabled, have no type filter or one with the event's type, and have no channels or one of
 * the event's. An endpoint with channels does not receive events without channels.
 */
export function matchesEndpoint(
  { event, channels = [] }: MatchedEvent,
  endpoint: Pick<WebhookEndpoint, 'disabled' | 'filterTypes' | 'channels'>,
): boolean {
  if (endpoint.disabled) return false;
  if (endpoint.filterTypes && !endpoint.filterTypes.includes(event)) return false;
  return !endpoint.channels || endpoint.channels.some((channel) => channels.includes(channel));
}

/** The two URLs of basic webhooks are delivered to like endpoints, under these reserved ids. By id: the config field of the URL. */
export const basicTargets = {
  ep_basic_raw: 'rawNotificationUrl',
  ep_basic_processed: 'processedNotificationUrl',
} as const;
export type BasicTargetId = keyof typeof basicTargets;

export function isBasicTarget(endpointId: string): endpointId is BasicTargetId {
  return Object.hasOwn(basicTargets, endpointId);
}

/** Returns the URL of a basic target; undefined while the service is off or the URL is empty. */
export function basicUrl(
  { useWebhookService, webhookServiceConfig }: BasicWebhookConfig,
  endpointId: BasicTargetId,
): string | undefined {
  return (useWebhookService && webhookServiceConfig[basicTargets[endpointId]]) || undefined;
}

/** Returns the basic targets that receive an event: those with a URL, if the trigger of the event type is on. */
export function matchingBasicTargets({ event }: MatchedEvent, config: BasicWebhookConfig | undefined): BasicTargetId[] {
  const { triggers = {} } = config?.webhookServiceConfig ?? {};
  if (!config || !Object.hasOwn(triggers, event) || !triggers[event]) return [];
  return (Object.keys(basicTargets) as BasicTargetId[]).filter(
    (endpointId) => basicUrl(config, endpointId) !== undefined,
  );
}
