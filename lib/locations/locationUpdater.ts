import type { Capability } from '../app/capability.ts';
import type { ContentKind, KindLocations, LocatedRecord, WithLocation } from '../content/kind.ts';
import { type Location, locationKey, storedLocation } from '../content/rules/location.ts';
import { refuseMigratingId } from '../directory/documentMigrations.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { replace, type Table } from '../table/table.ts';
import { readLocationRecords } from './locationRecords.ts';
import { changeLocation, type LocationChange, tooLarge } from './rules/locationChange.ts';

/** Some seconds less than the timeout of the function. */
const UPDATES_FOR_MILLISECONDS = 20_000;
const PARALLEL = 4;

export interface LocationUpdate extends LocationChange {
  readonly documentId: string;
  readonly oldLocation: Location;
  /** Undefined: all organizations of the tenant. */
  readonly organizationId?: string | undefined;
}

export class LocationUpdater {
  readonly #table: Table;
  readonly #clock: () => number;
  readonly #kinds: readonly ContentKind[] | undefined;

  constructor(table: Table, clock: () => number = Date.now, kinds?: readonly ContentKind[]) {
    this.#table = table;
    this.#clock = clock;
    this.#kinds = kinds;
  }

  /**
   * Changes records of disabled documents too. Can miss a record of the last moments. Throws INVALID_ARGUMENT for an
   * unknown organization or a record that would be too large, FAILED_PRECONDITION for a document that is being
   * migrated, ABORTED after too many conflicts, and UNAVAILABLE after 20 s: the same call then changes the rest.
   */
  async update(tenant: string, { documentId, organizationId, oldLocation, ...change }: LocationUpdate): Promise<void> {
    const organization =
      organizationId === undefined
        ? undefined
        : await new OrganizationReader(this.#table).require(tenant, organizationId);
    const organizationKey = organization?.internalId;
    const location = { tenant, documentId, key: locationKey(oldLocation), organizationKey };
    await refuseMigratingId(this.#table, tenant, documentId);
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

  /** Does nothing if another request has moved or deleted the record. */
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
      // The key has no location, so only the entry in the index moves.
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
  ['gsi1', 'gsi2'],
);
