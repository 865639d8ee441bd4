import type { BasicWebhookConfig } from './basicConfig.ts';
import type { WebhookEndpoint } from './endpoints.ts';

/** The fields of an event that endpoints filter by. */
export interface MatchedEvent {
  readonly event: string;
  readonly channels?: readonly string[] | undefined;
}

/**
 * Returns whether an endpoint receives an event. All of these conditions must be true:
 * - The endpoint is enabled.
 * - The endpoint has no type filter, or the filter contains the event type.
 * - The endpoint has no channels, or the event has at least one of them.
 */
export function matchesEndpoint(
  { event, channels = [] }: MatchedEvent,
  endpoint: Pick<WebhookEndpoint, 'disabled' | 'filterTypes' | 'channels'>,
): boolean {
  if (endpoint.disabled) return false;
  if (endpoint.filterTypes && !endpoint.filterTypes.includes(event)) return false;
  return !endpoint.channels || endpoint.channels.some((channel) => channels.includes(channel));
}

/** The reserved endpoint ids of the two URLs of basic webhooks, each with the config field that contains the URL. */
export const basicTargets = {
  ep_basic_raw: 'rawNotificationUrl',
  ep_basic_processed: 'processedNotificationUrl',
} as const;
export type BasicTargetId = keyof typeof basicTargets;

export function isBasicTarget(endpointId: string): endpointId is BasicTargetId {
  return Object.hasOwn(basicTargets, endpointId);
}

/** Returns the URL of a basic target. Returns undefined if the service is off or the URL is empty. */
export function basicUrl(
  { useWebhookService, webhookServiceConfig }: BasicWebhookConfig,
  endpointId: BasicTargetId,
): string | undefined {
  return (useWebhookService && webhookServiceConfig[basicTargets[endpointId]]) || undefined;
}

/** Returns the basic targets that have a URL. Returns none if the service is off. */
export function enabledBasicTargets(config: BasicWebhookConfig): BasicTargetId[] {
  return (Object.keys(basicTargets) as BasicTargetId[]).filter(
    (endpointId) => basicUrl(config, endpointId) !== undefined,
  );
}

/**
 * Returns the basic targets that receive an event. If the trigger of the event type is on, these are all targets with a URL.
 * Otherwise there are none.
 */
export function matchingBasicTargets({ event }: MatchedEvent, config: BasicWebhookConfig | undefined): BasicTargetId[] {
  const { triggers = {} } = config?.webhookServiceConfig ?? {};
  return config && Object.hasOwn(triggers, event) && triggers[event] ? enabledBasicTargets(config) : [];
}
