import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import type { ListPosition } from '../http/paging.ts';
import { defineEntity } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, itemOf, type QueryPage, remove, replace, type Table } from '../table/table.ts';
import { restartParkingJob } from './parkingJob.ts';
import { MAX_ENDPOINTS, WebhookEndpoint } from './rules/endpoints.ts';
import { reviseSettings, settingsRevision, WebhookSettingsEntity } from './webhookSettings.ts';

const endpointsOf = (of: { tenant: string }) => [of.tenant, 'WEBHOOK_ENDPOINTS'];

export const WebhookEndpointEntity = defineEntity({
  type: 'WebhookEndpoint',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'An advanced webhook endpoint, with its encrypted signing secrets',
  schema: WebhookEndpoint,
  pk: endpointsOf,
  sk: (key: { endpointId: string }) => ['ENDPOINT', key.endpointId],
});

export const WebhookEndpointUidEntity = defineEntity({
  type: 'WebhookEndpointUid',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'The id of the advanced webhook endpoint with a uid',
  schema: z.object({ endpointId: z.string() }),
  pk: endpointsOf,
  sk: (key: { uid: string }) => ['UID', key.uid],
});

export interface EndpointPage {
  readonly endpoints: WebhookEndpoint[];
  readonly next: ListPosition | undefined;
  readonly previous: ListPosition | undefined;
}

export class WebhookEndpointStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async get(tenant: string, endpointId: string): Promise<WebhookEndpoint | undefined> {
    return this.#table.get(WebhookEndpointEntity, { tenant, endpointId });
  }

  async idByUid(tenant: string, uid: string): Promise<string | undefined> {
    return (await this.#table.get(WebhookEndpointUidEntity, { tenant, uid }))?.endpointId;
  }

  /**
   * Returns the new endpoint, or the one that an earlier try of the same request created. `taken`: another endpoint has
   * the uid. `full`: 200 endpoints.
   */
  async create(tenant: string, endpoint: WebhookEndpoint): Promise<WebhookEndpoint | 'taken' | 'full'> {
    const { endpointId, uid } = endpoint;
    return retryOnConflict(async () => {
      const [stored, settings, existingUid] = await this.#table.batchGet(
        itemOf(WebhookEndpointEntity, { tenant, endpointId }),
        itemOf(WebhookSettingsEntity, { tenant }),
        ...(uid === undefined ? [] : [itemOf(WebhookEndpointUidEntity, { tenant, uid })]),
      );
      if (stored) return stored;
      if (existingUid) return 'taken';
      if (settings && settings.endpoints >= MAX_ENDPOINTS) return 'full';
      return this.#table.tryWrite(
        [
          insert(WebhookEndpointEntity, { tenant, ...endpoint }),
          reviseSettings(tenant, settings, 1),
          ...(uid === undefined ? [] : [insert(WebhookEndpointUidEntity, { tenant, uid, endpointId })]),
        ],
        endpoint,
      );
    });
  }

  /**
   * Undefined if the endpoint does not exist. Calls `change` again after a conflict. Releases the parked deliveries of
   * an endpoint that is enabled now.
   */
  async update(
    tenant: string,
    endpointId: string,
    change: (stored: WebhookEndpoint) => WebhookEndpoint,
  ): Promise<WebhookEndpoint | undefined> {
    return retryOnConflict(async () => {
      const [stored, revision, release] = await Promise.all([
        this.#table.get(WebhookEndpointEntity, { tenant, endpointId }),
        settingsRevision(this.#table, tenant),
        restartParkingJob(this.#table, { tenant, endpointId }),
      ]);
      if (!stored) return undefined;
      const changed = change(stored);
      return this.#table.tryWrite(
        [
          replace(WebhookEndpointEntity, { ...changed, tenant }, stored._r),
          revision,
          ...(changed.disabled ? [] : release),
        ],
        changed,
      );
    });
  }

  async delete(tenant: string, endpointId: string): Promise<'done' | 'unknown'> {
    return retryOnConflict(async () => {
      const [endpoint, settings] = await Promise.all([
        this.#table.get(WebhookEndpointEntity, { tenant, endpointId }),
        this.#table.get(WebhookSettingsEntity, { tenant }),
      ]);
      if (!endpoint) return 'unknown';
      return this.#table.tryWrite([
        remove(WebhookEndpointEntity, { tenant, endpointId }, endpoint._r),
        reviseSettings(tenant, settings, -1),
        ...(endpoint.uid === undefined ? [] : [remove(WebhookEndpointUidEntity, { tenant, uid: endpoint.uid })]),
      ]);
    });
  }

  async list(
    tenant: string,
    { limit, from }: { limit: number; from?: ListPosition | undefined },
  ): Promise<EndpointPage> {
    return from?.direction === 'before' ? this.#before(tenant, from.key, limit) : this.#after(tenant, from?.key, limit);
  }

  async #after(tenant: string, key: string | undefined, limit: number): Promise<EndpointPage> {
    const { values: endpoints, next } = await this.#read(tenant, { limit, after: key });
    // If this page is empty, the previous page ends with the endpoint at the position.
    const start = endpoints[0] ? keyOf(tenant, endpoints[0]) : `${key}~`;
    const hasPrevious = key !== undefined && (await this.#hasEndpoint(tenant, { after: start, descending: true }));
    return {
      endpoints,
      previous: hasPrevious ? { direction: 'before', key: start } : undefined,
      next: next === undefined ? undefined : { direction: 'after', key: next },
    };
  }

  async #before(tenant: string, key: string, limit: number): Promise<EndpointPage> {
    const { values, next } = await this.#read(tenant, { limit, after: key, descending: true });
    const [last] = values;
    if (!last) return this.#after(tenant, undefined, limit);
    const end = keyOf(tenant, last);
    const hasNext = await this.#hasEndpoint(tenant, { after: end });
    return {
      endpoints: values.reverse(),
      previous: next === undefined ? undefined : { direction: 'before', key: next },
      next: hasNext ? { direction: 'after', key: end } : undefined,
    };
  }

  async #hasEndpoint(tenant: string, where: { after: string; descending?: boolean }): Promise<boolean> {
    return (await this.#read(tenant, { limit: 1, ...where })).values.length > 0;
  }

  async #read(
    tenant: string,
    options: { limit: number; after?: string | undefined; descending?: boolean },
  ): Promise<QueryPage<WebhookEndpoint>> {
    return this.#table.query(WebhookEndpointEntity, { tenant }, { prefix: ['ENDPOINT'], ...options });
  }
}

function keyOf(tenant: string, { endpointId }: WebhookEndpoint): string {
  return WebhookEndpointEntity.key({ tenant, endpointId }).SK;
}

export const listWebhookEndpoints: Capability<Pick<WebhookEndpointStore, 'list'>> = /* @__PURE__ */ storeCapability(
  WebhookEndpointStore,
  ['Query'],
);

export const findWebhookEndpoint: Capability<Pick<WebhookEndpointStore, 'get'>> = /* @__PURE__ */ storeCapability(
  WebhookEndpointStore,
  ['GetItem'],
);

export const createWebhookEndpoints: Capability<Pick<WebhookEndpointStore, 'create'>> = /* @__PURE__ */ storeCapability(
  WebhookEndpointStore,
  ['BatchGetItem', 'PutItem'],
);

export const changeWebhookEndpoints: Capability<Pick<WebhookEndpointStore, 'update'>> = /* @__PURE__ */ storeCapability(
  WebhookEndpointStore,
  ['GetItem', 'PutItem'],
);

export const deleteWebhookEndpoints: Capability<Pick<WebhookEndpointStore, 'delete'>> = /* @__PURE__ */ storeCapability(
  WebhookEndpointStore,
  ['GetItem', 'PutItem', 'DeleteItem'],
);
