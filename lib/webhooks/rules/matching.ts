import { isInboxOnly } from '../../events/rules/inboxOnly.ts';
import type { BasicWebhookConfig } from './basicConfig.ts';
import type { WebhookEndpoint } from './endpoints.ts';

export interface MatchedEvent {
  readonly event: string;
  readonly channels?: readonly string[] | undefined;
}

export function matchesEndpoint(
  { event, channels = [] }: MatchedEvent,
  endpoint: Pick<WebhookEndpoint, 'disabled' | 'filterTypes' | 'channels'>,
): boolean {
  if (endpoint.disabled || isInboxOnly(event)) return false;
  if (endpoint.filterTypes && !endpoint.filterTypes.includes(event)) return false;
  return !endpoint.channels || endpoint.channels.some((channel) => channels.includes(channel));
}

/** The reserved endpoint ids, each with the config field of its URL. */
export const basicTargets = {
  ep_basic_raw: 'rawNotificationUrl',
  ep_basic_processed: 'processedNotificationUrl',
} as const;
export type BasicTargetId = keyof typeof basicTargets;

export function isBasicTarget(endpointId: string): endpointId is BasicTargetId {
  return Object.hasOwn(basicTargets, endpointId);
}

export function basicUrl(
  { useWebhookService, webhookServiceConfig }: BasicWebhookConfig,
  endpointId: BasicTargetId,
): string | undefined {
  return (useWebhookService && webhookServiceConfig[basicTargets[endpointId]]) || undefined;
}

export function enabledBasicTargets(config: BasicWebhookConfig): BasicTargetId[] {
  return (Object.keys(basicTargets) as BasicTargetId[]).filter(
    (endpointId) => basicUrl(config, endpointId) !== undefined,
  );
}

export function matchingBasicTargets({ event }: MatchedEvent, config: BasicWebhookConfig | undefined): BasicTargetId[] {
  const { triggers = {} } = config?.webhookServiceConfig ?? {};
  return config && Object.hasOwn(triggers, event) && triggers[event] ? enabledBasicTargets(config) : [];
}
