import type { Capability } from '../app/capability.ts';
import { type DeletedRecords, deleteInPages, type DeletionResult } from '../content/deleteInPages.ts';
import type { Document } from '../directory/documents.ts';
import type { Organization } from '../directory/organizations.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { distinct } from '../shared/collections.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { type NotificationFilter, NotificationReader } from './notificationReader.ts';
import { isSelected, NotificationWriter } from './notifications.ts';

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
   * With a user in the filter, deletes only notifications with this user in `notifyUsers`. With ids, one call deletes
   * all of them. Otherwise starts after `after`, and stops like `deleteInPages`. `document` is the one that the filter
   * names.
   */
  async delete(
    tenant: string,
    organization: Organization,
    document: Document | undefined,
    filter: NotificationFilter,
    after?: string,
  ): Promise<DeletedRecords> {
    const scope = organizationScope(tenant, organization);
    const deleteAll = async (ids: readonly string[]) => {
      const outcomes = await this.#writer.delete(scope, ids, (notification) =>
        isSelected(document, filter, notification),
      );
      return outcomes.map((outcome, index): DeletionResult => [ids[index] ?? '', outcome]);
    };
    const { notificationIds } = filter;
    return notificationIds
      ? { results: await deleteAll(distinct(notificationIds)), next: undefined }
      : deleteInPages(this.#reader.listIds(scope, document, filter, after), deleteAll, this.#clock);
  }
}

export const deleteNotifications: Capability<Pick<NotificationDeleter, 'delete'>> = /* @__PURE__ */ storeCapability(
  NotificationDeleter,
  ['BatchGetItem', 'Query', 'DeleteItem'],
);
