import type { Capability } from '../app/capability.ts';
import { type Location, locationKey } from './rules/location.ts';
import {
  changeLocation,
  type LocationChange,
  type StoredLocation,
  storedLocation,
  tooLarge,
} from './rules/locationChange.ts';
import { fits } from '../notifications/rules.ts';
import { changeThread } from '../comments/rules/threads.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { type Located, readLocationRecords } from './locationRecords.ts';
import { NotificationEntity } from '../notifications/notifications.ts';
import type { DocumentScope } from './documentScope.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import { RecordingEntity } from '../recordings/recordings.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** How long one call changes records. The function's own timeout is some seconds longer. */
const UPDATES_FOR_MILLISECONDS = 20_000;
const PARALLEL = 4;

/** What `locations/update` changes. */
export interface LocationUpdate extends LocationChange {
  /** The customer's id. */
  readonly documentId: string;
  readonly oldLocation: Location;
  /** The customer's id of the only organization to change; all organizations of the tenant when left out. */
  readonly organizationId?: string | undefined;
}

/** What the records have in common. */
interface WithLocation {
  readonly location?: string | undefined;
  readonly locationKey?: string | undefined;
}

/** Changes the location that records are stored with. */
export class LocationUpdater {
  readonly #table: Table;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#table = table;
    this.#clock = clock;
  }

  /**
   * Changes the location of the threads, reactions, recordings and notifications at `oldLocation`, in disabled documents too. INVALID_ARGUMENT when the
   * organization does not exist. UNAVAILABLE when 20 s are not enough: the same call continues, because changed records are skipped. A record
   * that was written in the last moments can be missed, because records are found through an index.
   */
  async update(tenant: string, { documentId, organizationId, oldLocation, ...change }: LocationUpdate): Promise<void> {
    const organization =
      organizationId === undefined
        ? undefined
        : (await new OrganizationReader(this.#table).require(tenant, organizationId)).internalId;
    const location = { tenant, documentId, key: locationKey(oldLocation), organization };
    const until = this.#clock() + UPDATES_FOR_MILLISECONDS;
    let after: string | undefined;
    do {
      const { threads, reactions, recordings, notifications, next } = await readLocationRecords(
        this.#table,
        location,
        after,
      );
      await inParallel(
        [
          ...threads.map(
            (found) => () =>
              this.#change(ThreadEntity, found, change, (thread, _stored, sent) => {
                const changed = changeThread(thread, { location: sent }, { now: this.#clock() });
                if ('refused' in changed) throw tooLarge();
                return changed;
              }),
          ),
          ...reactions.map(
            (found) => () =>
              this.#change(ReactionEntity, found, change, (reaction, stored) => ({
                ...reaction,
                ...stored,
                lastUpdated: this.#clock(),
              })),
          ),
          ...recordings.map(
            (found) => () =>
              this.#change(RecordingEntity, found, change, (recording, stored) => ({
                ...recording,
                ...stored,
                lastUpdated: this.#clock(),
              })),
          ),
          ...notifications.map(
            (found) => () =>
              this.#change(NotificationEntity, found, change, (notification, stored) => {
                const changed = { ...notification, ...stored };
                if (!fits(changed)) throw tooLarge();
                return changed;
              }),
          ),
        ],
        PARALLEL,
        async (work) => {
          if (this.#clock() > until)
            throw new ApiError('UNAVAILABLE', 'Not everything is updated yet. Send the request again.');
          await work();
        },
      );
      after = next;
    } while (after !== undefined);
  }

  /** Writes a record with its changed location, unless the record has that location already, has moved away or is deleted. */
  async #change<K, T extends WithLocation & K>(
    entity: Entity<T, DocumentScope, K>,
    { scope, record }: Located<T>,
    change: LocationChange,
    changed: (record: Stored<T>, stored: StoredLocation, location: Location) => T,
  ): Promise<void> {
    let current = record;
    await retryOnConflict(async () => {
      const location = changeLocation(current.location, change);
      const stored = storedLocation(location);
      if (stored.location === current.location) return 'done';
      // A replaced item takes its new index key. The key of the item itself holds no location, so it stays.
      const outcome = await this.#table.write([
        replace(entity, { ...scope, ...changed(current, stored, location) }, current._r),
      ]);
      if (outcome === 'done') return 'done';
      const found = await this.#table.get(entity, { ...scope, ...current });
      if (!found || found.locationKey !== record.locationKey) return 'done';
      current = found;
      return 'conflict';
    });
  }
}

export const updateLocations: Capability<Pick<LocationUpdater, 'update'>> = /* @__PURE__ */ storeCapability(
  LocationUpdater,
  ['GetItem', 'BatchGetItem', 'PutItem'],
  ['gsi2'],
);
