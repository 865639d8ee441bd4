import type { Capability } from '../app/capability.ts';
import type { Document } from '../directory/documents.ts';
import { organizationScope } from '../directory/folders/folders.ts';
import type { Organization } from '../directory/organizations.ts';
import { distinct } from '../shared/collections.ts';
import { type DeletedItems, type ItemOutcome, MAX_FAILED_ITEMS } from '../shared/results.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { type NotificationFilter, NotificationReader } from './notificationReader.ts';
import { isSelected, NotificationWriter } from './notifications.ts';

/** A request without ids stops after it has deleted this many notifications, or after this time (milliseconds). */
const MAX_DELETED_NOTIFICATIONS = 2_000;
const MAX_MILLISECONDS = 15_000;

export class NotificationDeleter {
  readonly #reader: NotificationReader;
  readonly #writer: NotificationWriter;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#reader = new NotificationReader(table);
    this.#writer = new NotificationWriter(table);
    this.#clock = clock;
  }

  /**
   * Deletes the notifications that a filter selects. With a user in the filter, deletes only notifications that have this user in
   * `notifyUsers`. With ids in the filter, one call deletes all of them. Otherwise the call stops after about 2,000 notifications
   * or 15 s. `document` is the document that the filter names.
   */
  async delete(
    tenant: string,
    organization: Organization,
    document: Document | undefined,
    filter: NotificationFilter,
  ): Promise<DeletedItems> {
    const scope = organizationScope(tenant, organization);
    const deadline = this.#clock() + MAX_MILLISECONDS;
    const results: [string, ItemOutcome][] = [];
    let [deleted, failed] = [0, 0];
    const { notificationIds } = filter;
    const pages = notificationIds ? [distinct(notificationIds)] : this.#reader.listIds(scope, document, filter);
    for await (const ids of pages) {
      const outcomes = await this.#writer.delete(scope, ids, (notification) =>
        isSelected(document, filter, notification),
      );
      for (const [index, outcome] of outcomes.entries())
        if (outcome.success || ++failed <= MAX_FAILED_ITEMS) results.push([ids[index] ?? '', outcome]);
      // Notifications that cannot be deleted do not count. Otherwise every repeated call would end at the same ones.
      deleted += outcomes.filter(({ success }) => success).length;
      if (!notificationIds && (deleted >= MAX_DELETED_NOTIFICATIONS || this.#clock() > deadline))
        return { results, hasMore: true };
    }
    return { results, hasMore: false };
  }
}

export const deleteNotifications: Capability<Pick<NotificationDeleter, 'delete'>> = /* @__PURE__ */ storeCapability(
  NotificationDeleter,
  ['BatchGetItem', 'Query', 'DeleteItem'],
);
