import { emit } from '../events/outbox.ts';
import { isoTime } from '../shared/isoTime.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { replace, type Table } from '../table/table.ts';
import { WebhookEndpointEntity } from './endpoints.ts';
import type { EndpointKey } from './targets.ts';
import { settingsRevision } from './webhookSettings.ts';

export class EndpointDisabler {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Writes the event `endpoint.disabled` in the same transaction. Returns `lost` if the endpoint has another revision
   * than the one whose failures were counted.
   */
  async disable(
    { tenant, endpointId }: EndpointKey,
    revision: number,
    firstFailureAt: number,
    now: number,
  ): Promise<'done' | 'lost'> {
    const data = {
      metadata: { apiKey: tenant },
      endpointId,
      firstFailureAt: isoTime(firstFailureAt),
      disabledAt: isoTime(now),
    };
    return retryOnConflict(async () => {
      const [endpoint, settings] = await Promise.all([
        this.#table.get(WebhookEndpointEntity, { tenant, endpointId }),
        settingsRevision(this.#table, tenant),
      ]);
      if (endpoint?._r !== revision) return 'lost';
      return this.#table.tryWrite([
        replace(
          WebhookEndpointEntity,
          { ...endpoint, tenant, disabled: true, disabling: { at: now, by: 'failures' }, updatedAt: now },
          revision,
        ),
        settings,
        ...emit(
          tenant,
          {
            event: 'endpoint.disabled',
            cause: { type: 'WebhookEndpoint', id: endpointId, revision: revision + 1 },
            payload: { source: 'operational', data },
          },
          now,
        ),
      ]);
    });
  }
}

export const disableEndpoints = /* @__PURE__ */ storeCapability(EndpointDisabler, ['GetItem', 'PutItem']);
