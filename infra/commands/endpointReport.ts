import { DISABLED_AFTER } from '../../lib/events/rules/endpointFailures.ts';
import { ApiKeyEntity } from '../../lib/http/entities.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import { isoTime } from '../../lib/shared/isoTime.ts';
import { itemOf, type Table } from '../../lib/table/table.ts';
import { DeliveryStore, type StoredDelivery } from '../../lib/webhooks/deliveries.ts';
import { EndpointHealthEntity } from '../../lib/webhooks/endpointHealth.ts';
import { WebhookEndpointEntity, WebhookEndpointStore } from '../../lib/webhooks/endpoints.ts';
import type { BasicWebhookConfig } from '../../lib/webhooks/rules/basicConfig.ts';
import { checkBreaker } from '../../lib/webhooks/rules/breaker.ts';
import type { Delivery } from '../../lib/webhooks/rules/delivery.ts';
import type { WebhookEndpoint } from '../../lib/webhooks/rules/endpoints.ts';
import { type EndpointHealth, healthAt } from '../../lib/webhooks/rules/health.ts';
import type { Attempt } from '../../lib/webhooks/rules/loggedAttempt.ts';
import { type BasicTargetId, basicTargets, isBasicTarget } from '../../lib/webhooks/rules/matching.ts';
import { targetItem } from '../../lib/webhooks/targets.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from '../../lib/webhooks/webhookConfigs.ts';
import { columns } from './columns.ts';
import { unknownApiKey } from './operator.ts';

type Rows = readonly (readonly string[])[];

const MESSAGES = 20;
const PARALLEL = 10;
const DAY = 24 * 60 * 60_000;
const ATTEMPTS = 100;

/** `name` is an id or a `uid`. If there is no such endpoint, returns `name` itself. */
export async function endpointIdOf(table: Table, tenant: string, name: string): Promise<string> {
  const store = new WebhookEndpointStore(table);
  if (isBasicTarget(name) || (await store.get(tenant, name))) return name;
  return (await store.idByUid(tenant, name)) ?? name;
}

/**
 * Returns configuration, health and last messages of a webhook endpoint or a URL of basic webhooks. A deleted endpoint
 * has a report as long as the table has its messages.
 */
export async function endpointReport(table: Table, tenant: string, name: string, now: number): Promise<string> {
  const endpointId = await endpointIdOf(table, tenant, name);
  const [[key, advanced, basic, endpoint], [target, storedHealth], deliveries] = await Promise.all([
    table.batchGet(
      itemOf(ApiKeyEntity, { apiKey: tenant }),
      itemOf(AdvancedWebhookConfigEntity, { tenant }),
      itemOf(BasicWebhookConfigEntity, { tenant }),
      itemOf(WebhookEndpointEntity, { tenant, endpointId }),
    ),
    // The target is undefined if nothing can be sent to the endpoint. Its report then has no health.
    table.batchGet(targetItem({ tenant, endpointId }), itemOf(EndpointHealthEntity, { tenant, endpointId })),
    new DeliveryStore(table).latestOfEndpoint({ tenant, endpointId }, MESSAGES),
  ]);
  if (!key) throw unknownApiKey(tenant);
  const isBasic = isBasicTarget(endpointId);
  if (!endpoint && !isBasic && deliveries.length === 0)
    throw new Error(`API key ${tenant} has no endpoint ${name}, and sent no message to it in the last 30 days.`);

  const attempts = await attemptsOf(table, deliveries);
  const delivered = attempts
    .flat()
    .filter(({ outcome }) => outcome === 'delivered')
    .map(({ at, durationMs }) => at + durationMs)
    .sort((a, b) => a - b)
    .at(-1);
  return columns([
    ['Endpoint', endpointId],
    ...(isBasic ? basicRows(basic, endpointId) : advancedRows(endpoint, advancedState(key, advanced))),
    // Like the worker, the report ignores the health of earlier revisions of the endpoint.
    ...(target ? healthRows(healthAt(storedHealth, target._r), delivered, now) : []),
    ['Last delivered', lastDelivered(deliveries.length, delivered)],
    [],
    ['Last messages', 'event', 'state', 'attempts', 'next attempt', 'last outcome'],
    ...deliveries.map((delivery, index) => [
      `${isoTime(delivery.createdAt)} ${delivery.eventId}`,
      delivery.event,
      ...stateOf(delivery),
      outcomeOf(attempts[index]),
    ]),
  ]);
}

function lastDelivered(messages: number, at: number | undefined): string {
  if (at !== undefined) return isoTime(at);
  return messages === 0 ? 'no messages in the last 30 days' : `none of the last ${messages} messages`;
}

async function attemptsOf(table: Table, deliveries: readonly StoredDelivery[]): Promise<Attempt[][]> {
  const store = new DeliveryStore(table);
  const attemptsByEvent = new Map<string, Attempt[]>();
  await inParallel(
    deliveries.filter(({ attempts }) => attempts > 0),
    PARALLEL,
    async ({ tenant, eventId, endpointId }) => {
      const { attempts } = await store.listAttempts(tenant, eventId, { endpointId, limit: ATTEMPTS });
      attemptsByEvent.set(
        eventId,
        attempts.sort((a, b) => a.at - b.at),
      );
    },
  );
  return deliveries.map(({ eventId }) => attemptsByEvent.get(eventId) ?? []);
}

function outcomeOf(attempts: readonly Attempt[] = []): string {
  const last = attempts.at(-1);
  return last
    ? [last.outcome, ...(last.responseStatus === undefined ? [] : [String(last.responseStatus)])].join(' ')
    : '-';
}

function advancedState(
  key: { withheld?: readonly string[] | undefined },
  config: { isEnabled: boolean } | undefined,
): string {
  if (key.withheld?.includes('advancedWebhooks')) return 'off: made unavailable by the operator';
  if (!config) return 'off: never enabled by the customer';
  return config.isEnabled ? 'on' : 'off: disabled by the customer';
}

function advancedRows(endpoint: WebhookEndpoint | undefined, state: string): Rows {
  if (!endpoint) return [['State', 'deleted']];
  const { uid, url, filterTypes, channels, rateLimit, updatedAt } = endpoint;
  return [
    ...(uid === undefined ? [] : [['Uid', uid]]),
    ['State', disabledState(endpoint) ?? 'enabled'],
    ['Advanced webhooks', state],
    // The path and the query of the URL may contain secrets.
    ['URL', new URL(url).origin],
    ['Events', filterTypes?.join(', ') ?? 'every type'],
    ['Channels', channels ? `events with one of ${channels.join(', ')}` : 'events with any channel or none'],
    ['Rate limit', rateLimit === undefined ? 'none' : `${rateLimit} per second`],
    ['Last changed', isoTime(updatedAt)],
  ];
}

function disabledState({ disabled, disabling }: WebhookEndpoint): string | undefined {
  if (!disabled) return undefined;
  if (!disabling) return 'disabled';
  return `disabled since ${isoTime(disabling.at)}, ${disabling.by === 'failures' ? `by the service, because every attempt failed for ${DISABLED_AFTER / DAY} days` : 'by the customer'}`;
}

function basicRows(config: BasicWebhookConfig | undefined, endpointId: BasicTargetId): Rows {
  const field = basicTargets[endpointId];
  const { triggers = {} } = config?.webhookServiceConfig ?? {};
  const events = Object.keys(triggers)
    .filter((event) => triggers[event])
    .sort();
  const url = config?.webhookServiceConfig[field];
  return [
    ['Kind', `${field} of basic webhooks`],
    ['Basic webhooks', basicState(config)],
    ['URL', url ? new URL(url).origin : 'none'],
    ['Events', events.join(', ') || 'none: no trigger is on'],
  ];
}

function basicState(config: BasicWebhookConfig | undefined): string {
  if (!config) return 'off: never enabled by the customer';
  return config.useWebhookService ? 'on' : 'off: disabled by the customer';
}

/** The health item does not record every success, so a success in the attempt log counts too. */
function healthRows({ breaker, failing }: EndpointHealth, delivered: number | undefined, now: number): Rows {
  const fails = failing && (delivered === undefined || delivered < failing.since);
  return [
    ['Deliveries paused', pauseOf(checkBreaker(breaker, now))],
    ['Failing', fails ? `since ${isoTime(failing.since)}` : 'no'],
  ];
}

function pauseOf(decision: ReturnType<typeof checkBreaker>): string {
  if (typeof decision === 'object') return `until ${isoTime(decision.pausedUntil)}`;
  return decision === 'probe' ? 'no: the next attempt decides' : 'no';
}

export function stateOf({ status, attempts, nextAt, parked }: Delivery): string[] {
  return [status, `${attempts}`, nextAt === undefined ? (parked ? 'parked' : '-') : isoTime(nextAt)];
}
