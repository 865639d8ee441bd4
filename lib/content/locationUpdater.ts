import { type Location, locationKey } from './rules/location.ts';
import {
  changeLocation,
  type LocationChange,
  type StoredLocation,
  storedLocation,
  tooLarge,
} from './rules/locationChange.ts';
import { fitsItem } from '../notifications/rules.ts';
import { changeThread } from '../comments/rules/threads.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Capability } from '../app/capability.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { pages } from '../table/pages.ts';
import { type LocatedRecord, type LocationRecords, readLocationRecords } from './locationRecords.ts';
import { NotificationEntity } from '../notifications/notifications.ts';
import type { DocumentScope } from './documentScope.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import { RecordingEntity } from '../recordings/recordings.ts';
import { ThreadEntity } from '../comments/threads.ts';

/** The time that one call changes records. The timeout of the function is some seconds longer. */
const UPDATES_FOR_MILLISECONDS = 20_000;
const PARALLEL = 4;

/** A call of `locations/update`. */
export interface LocationUpdate extends LocationChange {
  /** The customer's id. */
  readonly documentId: string;
  readonly oldLocation: Location;
  /** The customer's id of the organization to change; undefined for all organizations of the tenant. */
  readonly organizationId?: string | undefined;
}

interface WithLocation {
  readonly location?: string | undefined;
  readonly locationKey?: string | undefined;
}

/** Changes the location of records. */
export class LocationUpdater {
  readonly #table: Table;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#table = table;
    this.#clock = clock;
  }

  /**
   * Changes the location of the threads, reactions, recordings and notifications at `oldLocation`, in disabled documents too. Throws
   * INVALID_ARGUMENT for an unknown organization, and UNAVAILABLE after 20 s: the same call then continues, because it skips changed
   * records. Can miss a record of the last moments, because it finds records through an index.
   */
  async update(tenant: string, { documentId, organizationId, oldLocation, ...change }: LocationUpdate): Promise<void> {
    const organization =
      organizationId === undefined
        ? undefined
        : await new OrganizationReader(this.#table).require(tenant, organizationId);
    const organizationKey = organization?.internalId;
    const location = { tenant, documentId, key: locationKey(oldLocation), organizationKey };
    const until = this.#clock() + UPDATES_FOR_MILLISECONDS;
    for await (const page of pages((after) => readLocationRecords(this.#table, location, after)))
      await inParallel(this.#tasksOf(page, change), PARALLEL, async (task) => {
        if (this.#clock() > until)
          throw new ApiError('UNAVAILABLE', 'Not everything is updated yet. Send the request again.');
        await task();
      });
  }

  /** Returns a task for each record of a page. */
  #tasksOf(
    { threads, reactions, recordings, notifications }: LocationRecords,
    change: LocationChange,
  ): (() => Promise<void>)[] {
    const setLocation = <R extends object>(record: R, stored: StoredLocation) => ({
      ...record,
      ...stored,
      lastUpdated: this.#clock(),
    });
    const changeThreadLocation = (thread: LocatedRecord<Parameters<typeof changeThread>[0]>) =>
      this.#change(ThreadEntity, thread, change, (record, _stored, location) => {
        const changed = changeThread(record, { location }, { now: this.#clock() });
        if ('refused' in changed) throw tooLarge();
        return changed;
      });
    const changeNotificationLocation = (notification: LocationRecords['notifications'][number]) =>
      this.#change(NotificationEntity, notification, change, (record, stored) => {
        const changed = { ...record, ...stored };
        if (!fitsItem(changed)) throw tooLarge();
        return changed;
      });
    return [
      ...threads.map((found) => () => changeThreadLocation(found)),
      ...reactions.map((found) => () => this.#change(ReactionEntity, found, change, setLocation)),
      ...recordings.map((found) => () => this.#change(RecordingEntity, found, change, setLocation)),
      ...notifications.map((found) => () => changeNotificationLocation(found)),
    ];
  }

  /** Writes a record with its changed location. Skips a record that has that location already, has another one now, or is deleted. */
  async #change<K, T extends WithLocation & K>(
    entity: Entity<T, DocumentScope, K>,
    { scope, record }: LocatedRecord<T>,
    change: LocationChange,
    changeRecord: (record: Stored<T>, stored: StoredLocation, location: Location) => T,
  ): Promise<void> {
    let current = record;
    await retryOnConflict(async () => {
      const location = changeLocation(current.location, change);
      const stored = storedLocation(location);
      if (stored.location === current.location) return 'done';
      // The write also updates the key in the index. The key of the item does not contain the location.
      const changed = { ...scope, ...changeRecord(current, stored, location) };
      if ((await this.#table.write([replace(entity, changed, current._r)])) === 'done') return 'done';
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
