import type { Capability } from '../app/capability.ts';
import type { ContentKind, KindLocations, LocatedRecord, WithLocation } from '../content/kind.ts';
import { type Location, locationKey, storedLocation } from '../content/rules/location.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { replace, type Table } from '../table/table.ts';
import { readLocationRecords } from './locationRecords.ts';
import { changeLocation, type LocationChange, tooLarge } from './rules/locationChange.ts';

/** How long one call changes records (milliseconds). The timeout of the function is some seconds longer. */
const UPDATES_FOR_MILLISECONDS = 20_000;
const PARALLEL = 4;

/** A request of `locations/update`. */
export interface LocationUpdate extends LocationChange {
  /** The document id that the customer chose. */
  readonly documentId: string;
  readonly oldLocation: Location;
  /** The organization id that the customer chose. If undefined, all organizations of the tenant are changed. */
  readonly organizationId?: string | undefined;
}

export class LocationUpdater {
  readonly #table: Table;
  readonly #clock: () => number;
  readonly #kinds: readonly ContentKind[] | undefined;

  /** `kinds` are all kinds of content by default. */
  constructor(table: Table, clock: () => number = Date.now, kinds?: readonly ContentKind[]) {
    this.#table = table;
    this.#clock = clock;
    this.#kinds = kinds;
  }

  /**
   * Changes the location of the threads, reactions, recordings and notifications at `oldLocation`, also in disabled documents.
   * Can miss a record that was written a moment ago, because the index of locations is eventually consistent. Throws:
   * - INVALID_ARGUMENT for an unknown organization, or if a changed record would be too large
   * - UNAVAILABLE after 20 s. The same request, sent again, changes the remaining records.
   */
  async update(tenant: string, { documentId, organizationId, oldLocation, ...change }: LocationUpdate): Promise<void> {
    const organization =
      organizationId === undefined
        ? undefined
        : await new OrganizationReader(this.#table).require(tenant, organizationId);
    const organizationKey = organization?.internalId;
    const location = { tenant, documentId, key: locationKey(oldLocation), organizationKey };
    const deadline = this.#clock() + UPDATES_FOR_MILLISECONDS;
    for await (const { kinds } of pages((after) => readLocationRecords(this.#table, location, after, this.#kinds)))
      await inParallel(
        kinds.flatMap(({ locate, records }) => records.map((located) => ({ locate, located }))),
        PARALLEL,
        async ({ locate, located }) => {
          if (this.#clock() > deadline)
            throw new ApiError('UNAVAILABLE', 'Not everything is updated yet. Send the request again.');
          await this.#change(locate, located, change);
        },
      );
  }

  /**
   * Writes a record with its new location. Does nothing if the record has the new location already, if another request moved it
   * to another location, or if it is deleted.
   */
  async #change(
    locate: KindLocations,
    { scope, record }: LocatedRecord<WithLocation>,
    change: LocationChange,
  ): Promise<void> {
    let current = record;
    await retryOnConflict(async () => {
      const location = changeLocation(current.location, change);
      const stored = storedLocation(location);
      if (stored.location === current.location) return 'done';
      const moved = locate.move(current, stored, location, this.#clock());
      if (!moved) throw tooLarge();
      // The key of the record does not contain the location, so it stays. The record's key in the index of locations changes.
      const changed = { ...scope, ...moved };
      if ((await this.#table.write([replace(locate.entity, changed, current._r)])) === 'done') return 'done';
      const latest = await this.#table.get(locate.entity, { ...scope, ...current });
      if (!latest || latest.locationKey !== record.locationKey) return 'done';
      current = latest;
      return 'conflict';
    });
  }
}

export const updateLocations: Capability<Pick<LocationUpdater, 'update'>> = /* @__PURE__ */ storeCapability(
  LocationUpdater,
  ['GetItem', 'BatchGetItem', 'PutItem'],
  ['gsi2'],
);
