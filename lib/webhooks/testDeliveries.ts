import type { Timing } from './rules/schedule.ts';
import type { NewEvent } from '../events/outbox.ts';
import type { Table } from '../table/table.ts';
import { type DueDelivery, emitTo } from './deliveries.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Writes events that are for one endpoint alone. */
export class Trials {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Writes an event with its delivery, and gives the delivery, which a message is to be sent about. The same cause once more writes nothing. */
  async emit(tenant: string, endpointId: string, event: NewEvent, now: number, timing: Timing): Promise<DueDelivery> {
    const { delivery, ops } = emitTo(tenant, endpointId, event, now, timing);
    // What is in the way is this very event: its cause is nobody else's.
    await this.#table.write(ops);
    return delivery;
  }
}

export const emitTrials = /* @__PURE__ */ storeCapability(Trials, ['PutItem']);
