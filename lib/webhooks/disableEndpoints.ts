import type { WebhookEndpoint } from './rules/endpoints.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Stored } from '../table/entity.ts';
import { emit } from '../events/outbox.ts';
import { replace, type Table } from '../table/table.ts';
import { WebhookEndpointEntity } from './endpoints.ts';
import { storeCapability } from '../table/storeCapability.ts';

export class EndpointDisabler {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Disables an endpoint and writes the event `endpoint.disabled` in the same transaction. Returns `lost` when the endpoint was changed in the
   * meantime: its failures were those of the old version.
   */
  async disable(
    tenant: string,
    endpoint: Stored<WebhookEndpoint>,
    firstFailureAt: number,
    now: number,
  ): Promise<'done' | 'lost'> {
    const { endpointId, _r } = endpoint;
    const data = {
      metadata: { apiKey: tenant },
      endpointId,
      firstFailureAt: isoTime(firstFailureAt),
      disabledAt: isoTime(now),
    };
    const outcome = await this.#table.write([
      replace(
        WebhookEndpointEntity,
        { ...endpoint, tenant, disabled: true, disabling: { at: now, by: 'failures' }, updatedAt: now },
        _r,
      ),
      ...emit(
        tenant,
        {
          event: 'endpoint.disabled',
          cause: { type: 'WebhookEndpoint', id: endpointId, revision: _r + 1 },
          payload: { source: 'operational', data },
        },
        now,
      ),
    ]);
    return outcome === 'done' ? 'done' : 'lost';
  }
}

export const disableEndpoints = /* @__PURE__ */ storeCapability(EndpointDisabler, ['PutItem']);
