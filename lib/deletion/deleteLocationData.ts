import type { ContentKind, LocationDeletion } from '../content/kind.ts';
import { type Location, locationKey } from '../content/rules/location.ts';
import { refuseMigratingId } from '../directory/documentMigrations.ts';
import { type LocationRecords, readLocationRecords } from '../locations/locationRecords.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { inTransactions, type Table } from '../table/table.ts';

const DELETES_FOR_MILLISECONDS = 20_000;
const PARALLEL = 4;

export class LocationDeleter {
  readonly #table: Table;
  readonly #kinds: readonly ContentKind[] | undefined;

  constructor(table: Table, kinds?: readonly ContentKind[]) {
    this.#table = table;
    this.#kinds = kinds;
  }

  /**
   * Deletes in all organizations of the tenant, even disabled ones. Throws FAILED_PRECONDITION while a document with
   * the id is being migrated, and UNAVAILABLE after 20 s: a repeated call continues. Records that were just written can
   * stay, because the index is eventually consistent.
   */
  async delete(tenant: string, documentId: string, location: Location, clock: () => number = Date.now): Promise<void> {
    await refuseMigratingId(this.#table, tenant, documentId);
    const key = locationKey(location);
    const deadline = clock() + DELETES_FOR_MILLISECONDS;
    const requireTime = () => {
      const now = clock();
      if (now > deadline) throw new ApiError('UNAVAILABLE', 'Not everything is deleted yet. Send the request again.');
      return now;
    };
    let [after, isComplete]: [string | undefined, boolean] = [undefined, true];
    for (;;) {
      const position = { tenant, documentId, key };
      const { kinds, next } = await readLocationRecords(this.#table, position, after, this.#kinds);
      const deleted = await this.#deleteRecords(kinds, { table: this.#table, key, requireTime });
      isComplete = isComplete && deleted;
      if (next === undefined && isComplete) return;
      requireTime();
      // Starts again from the first page if other requests changed records during their deletion.
      isComplete = next === undefined || isComplete;
      after = next;
    }
  }

  async #deleteRecords(kinds: readonly LocationRecords[], deletion: LocationDeletion): Promise<boolean> {
    let isComplete = true;
    const independent = kinds.flatMap(({ locate, records }) =>
      records.flatMap(({ scope, record }) =>
        'ops' in locate.deletion ? [{ ops: locate.deletion.ops(scope, record) }] : [],
      ),
    );
    await inParallel(inTransactions(independent), PARALLEL, async (group) => {
      deletion.requireTime();
      if ((await this.#table.write(group.flatMap(({ ops }) => ops))) !== 'done') isComplete = false;
    });
    // Backwards through the list: the deletion of a reaction changes its comment, which is deleted after it.
    for (const { locate, records } of kinds.toReversed())
      if ('run' in locate.deletion && !(await locate.deletion.run(deletion, records))) isComplete = false;
    return isComplete;
  }
}

export const deleteLocations = /* @__PURE__ */ storeCapability(
  LocationDeleter,
  ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
  ['gsi1', 'gsi2'],
);
