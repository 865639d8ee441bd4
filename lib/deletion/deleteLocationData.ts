import type { ContentKind, LocationDeletion } from '../content/kind.ts';
import { type Location, locationKey } from '../content/rules/location.ts';
import { type LocationRecords, readLocationRecords } from '../locations/locationRecords.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { inTransactions, type Table } from '../table/table.ts';

/** How long one call runs, in milliseconds. The function times out some seconds later. */
const DELETES_FOR_MILLISECONDS = 20_000;
const PARALLEL = 4;

export class LocationDeleter {
  readonly #table: Table;
  readonly #kinds: readonly ContentKind[] | undefined;

  /** `kinds` are all kinds of content by default. */
  constructor(table: Table, kinds?: readonly ContentKind[]) {
    this.#table = table;
    this.#kinds = kinds;
  }

  /**
   * Deletes the threads, reactions, recordings and notifications of a location in a document. If several organizations of the
   * tenant have a document with this id, deletes the records in all of them, even in disabled organizations.
   *
   * Throws UNAVAILABLE after 20 seconds. A repeated call then continues. The index of locations is eventually consistent, so
   * records that were just written can stay.
   */
  async delete(tenant: string, documentId: string, location: Location, clock: () => number = Date.now): Promise<void> {
    const key = locationKey(location);
    const deadline = clock() + DELETES_FOR_MILLISECONDS;
    /** Returns the current time, epoch ms. Throws UNAVAILABLE after the deadline of the call. */
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
      // After the last page, the search starts again from the first page if other requests changed records during their deletion. It
      // then finds these records again.
      isComplete = next === undefined || isComplete;
      after = next;
    }
  }

  /**
   * Deletes records. Returns false if some of them remain because of concurrent writes. Keeps records that another request moves to
   * another location in the meantime.
   */
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
    // Backwards, because a deletion changes the records of kinds before its own.
    for (const { locate, records } of kinds.toReversed())
      if ('run' in locate.deletion && !(await locate.deletion.run(deletion, records))) isComplete = false;
    return isComplete;
  }
}

export const deleteLocations = /* @__PURE__ */ storeCapability(
  LocationDeleter,
  ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
  ['gsi2'],
);
