import type { Capability } from '../app/capability.ts';
import { changeThread } from '../comments/rules/threads.ts';
import { ThreadEntity } from '../comments/threads.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { type Location, locationKey } from '../content/rules/location.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import { NotificationEntity } from '../notifications/notifications.ts';
import { fitsItem } from '../notifications/rules.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import { RecordingEntity } from '../recordings/recordings.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Entity, Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { replace, type Table } from '../table/table.ts';
import { type LocatedRecord, type LocationRecords, readLocationRecords } from './locationRecords.ts';
import {
  changeLocation,
  type LocationChange,
  type StoredLocation,
  storedLocation,
  tooLarge,
} from './rules/locationChange.ts';

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

interface WithLocation {
  readonly location?: string | undefined;
  readonly locationKey?: string | undefined;
}

export class LocationUpdater {
  readonly #table: Table;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#table = table;
    this.#clock = clock;
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
    for await (const page of pages((after) => readLocationRecords(this.#table, location, after)))
      await inParallel(this.#tasksOf(page, change), PARALLEL, async (task) => {
        if (this.#clock() > deadline)
          throw new ApiError('UNAVAILABLE', 'Not everything is updated yet. Send the request again.');
        await task();
      });
  }

  /** Returns one task per record of a page. Each task changes the location of its record. */
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
      ...threads.map((thread) => () => changeThreadLocation(thread)),
      ...reactions.map((reaction) => () => this.#change(ReactionEntity, reaction, change, setLocation)),
      ...recordings.map((recording) => () => this.#change(RecordingEntity, recording, change, setLocation)),
      ...notifications.map((notification) => () => changeNotificationLocation(notification)),
    ];
  }

  /**
   * Writes a record with its new location. Does nothing if the record has the new location already, if another request moved it
   * to another location, or if it is deleted.
   */
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
      // The key of the record does not contain the location, so it stays. The record's key in the index of locations changes.
      const changed = { ...scope, ...changeRecord(current, stored, location) };
      if ((await this.#table.write([replace(entity, changed, current._r)])) === 'done') return 'done';
      const latest = await this.#table.get(entity, { ...scope, ...current });
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
