/** What `npm run deliveries -- endpoint` prints. */
import { ApiKeyEntity } from '../../lib/workspaces/entities.ts';
import { type Attempt, DeliveryStore, type StoredDelivery } from '../../lib/webhooks/deliveries.ts';
import { EndpointHealthEntity } from '../../lib/webhooks/endpointHealth.ts';
import { wantedTarget } from '../../lib/webhooks/targets.ts';
import { type Table, itemOf } from '../../lib/table/table.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from '../../lib/webhooks/configs.ts';
import { WebhookEndpointEntity, WebhookEndpointStore } from '../../lib/webhooks/endpoints.ts';
import { DISABLED_AFTER } from '../../lib/webhooks/rules/autoDisable.ts';
import { gateOf } from '../../lib/webhooks/rules/breaker.ts';
import type { Delivery } from '../../lib/webhooks/rules/delivery.ts';
import { type EndpointHealth, healthAt } from '../../lib/webhooks/rules/health.ts';
import { basicTargets, type BasicTargetId, isBasicTarget } from '../../lib/webhooks/rules/matching.ts';
import type { BasicWebhookConfig } from '../../lib/webhooks/rules/basic.ts';
import type { WebhookEndpoint } from '../../lib/webhooks/rules/endpoints.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import { iso } from '../../lib/shared/isoTime.ts';
import { columns } from './columns.ts';

type Rows = readonly (readonly string[])[];

/** How many of the last messages are looked at. */
const MESSAGES = 20;
const PARALLEL = 10;
const DAY = 24 * 60 * 60_000;
/** More attempts than one delivery has, but for those that somebody asked for over and over. */
const ATTEMPTS = 100;

/** The id of an endpoint by that or by the customer's own name for it, its `uid`; what is neither is given back. */
export async function endpointIdOf(table: Table, tenant: string, name: string): Promise<string> {
  const store = new WebhookEndpointStore(table);
  if (isBasicTarget(name) || (await store.get(tenant, name))) return name;
  return (await store.named(tenant, name)) ?? name;
}

/**
 * An endpoint or a URL of basic webhooks as it is now: whether and what it gets, what the worker knows of its failures, and what became of
 * the last messages to it. `name` is its id or `uid`. Throws when there is none and was none in the last 30 days.
 */
export async function endpointReport(table: Table, tenant: string, name: string, now: number): Promise<string> {
  const endpointId = await endpointIdOf(table, tenant, name);
  const [[key, advanced, basic, endpoint], [target, known], { deliveries }] = await Promise.all([
    table.batchGet(
      itemOf(ApiKeyEntity, { apiKey: tenant }),
      itemOf(AdvancedWebhookConfigEntity, { tenant }),
      itemOf(BasicWebhookConfigEntity, { tenant }),
      itemOf(WebhookEndpointEntity, { tenant, endpointId }),
    ),
    // As the worker reads it: what is off has no target.
    table.batchGet(wantedTarget({ tenant, endpointId }), itemOf(EndpointHealthEntity, { tenant, endpointId })),
    new DeliveryStore(table).deliveriesOf(tenant, endpointId, 0, { limit: MESSAGES, descending: true }),
  ]);
  const isBasic = isBasicTarget(endpointId);
  if (!endpoint && !isBasic && deliveries.length === 0)
    throw new Error(`The API key ${tenant} has no endpoint ${name}, and had none in the last 30 days.`);

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
    // By the worker's own rule: what was learnt of an earlier revision says nothing.
    ...(target ? healthRows(healthAt(known, target._r), delivered, now) : []),
    ['Last delivered', lastDelivered(deliveries.length, delivered)],
    [],
    ['Last messages', 'event', 'state', 'attempts', 'next attempt', 'last outcome'],
    ...deliveries.map((delivery, index) => [
      `${iso(delivery.createdAt)} ${delivery.eventId}`,
      delivery.event,
      ...stateOf(delivery),
      outcomeOf(attempts[index]),
    ]),
  ]);
}

function lastDelivered(messages: number, at: number | undefined): string {
  if (at !== undefined) return iso(at);
  return messages === 0 ? 'no messages in the last 30 days' : `none of the last ${messages} messages`;
}

/** The attempts of each delivery, oldest first. */
async function attemptsOf(table: Table, deliveries: readonly StoredDelivery[]): Promise<Attempt[][]> {
  const store = new DeliveryStore(table);
  const found = new Map<string, Attempt[]>();
  await inParallel(
    deliveries.filter(({ attempts }) => attempts > 0),
    PARALLEL,
    async ({ tenant, eventId, endpointId }) => {
      const { attempts } = await store.attempts(tenant, eventId, { endpointId, limit: ATTEMPTS });
      found.set(
        eventId,
        attempts.sort((a, b) => a.at - b.at),
      );
    },
  );
  return deliveries.map(({ eventId }) => found.get(eventId) ?? []);
}

function outcomeOf(attempts: readonly Attempt[] = []): string {
  const last = attempts.at(-1);
  return last
    ? [last.outcome, ...(last.responseStatus === undefined ? [] : [String(last.responseStatus)])].join(' ')
    : '-';
}

/** Whether advanced webhooks reach the endpoints of an API key at all. */
function advancedState(
  key: { withheld?: readonly string[] | undefined } | undefined,
  config: { isEnabled: boolean } | undefined,
): string {
  if (!key) return 'off: there is no such API key';
  if (key.withheld?.includes('advancedWebhooks')) return 'off: not offered to the API key by the operator';
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
    // The rest of the URL may hold secrets.
    ['URL', new URL(url).origin],
    ['Events', filterTypes?.join(', ') ?? 'of every type'],
    ['Channels', channels ? `only events with one of ${channels.join(', ')}` : 'any, or none'],
    ['Rate limit', rateLimit === undefined ? 'none' : `${rateLimit} per second`],
    ['Last changed', iso(updatedAt)],
  ];
}

function disabledState({ disabled, disabling }: WebhookEndpoint): string | undefined {
  if (!disabled) return undefined;
  if (!disabling) return 'disabled';
  return `disabled since ${iso(disabling.at)}, ${disabling.by === 'failures' ? `by the service: every attempt had failed for ${DISABLED_AFTER / DAY} days` : 'by a request of the API key'}`;
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
    [
      'Basic webhooks',
      config
        ? config.useWebhookService
          ? 'on'
          : 'off: disabled by the customer'
        : 'off: never enabled by the customer',
    ],
    ['URL', url ? new URL(url).origin : 'none is set'],
    ['Events', events.join(', ') || 'none: no trigger is on'],
  ];
}

/** What the worker knows. Of many successes it looks at a sample, so one that is in the log of attempts counts as well. */
function healthRows({ breaker, failing }: EndpointHealth, delivered: number | undefined, now: number): Rows {
  const gate = gateOf(breaker, now);
  const pause =
    typeof gate === 'object'
      ? `until ${iso(gate.pausedUntil)}`
      : gate === 'probe'
        ? 'no longer: the next one decides'
        : 'no';
  const fails = failing && (delivered === undefined || delivered < failing.since);
  return [
    ['Deliveries pause', pause],
    ['Failing', fails ? `since ${iso(failing.since)}` : 'no'],
  ];
}

/** The cells that tell what is at hand of a delivery: its state, attempts so far, and when the next one is due. */
export function stateOf({ status, attempts, nextAt }: Delivery): string[] {
  return [status, `${attempts}`, nextAt === undefined ? '-' : iso(nextAt)];
}
