import type { Capability } from '../app/capability.ts';
import { type DeletedRecords, deleteInPages, type DeletionResult } from '../content/deleteInPages.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import type { Document } from '../directory/documents.ts';
import type { Organization } from '../directory/organizations.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { NotificationReader } from './notificationReader.ts';
import { isSelected, NotificationWriter } from './notifications.ts';

interface MarkedSelection {
  readonly document: Document | undefined;
  readonly userId: string;
  readonly locationId: string | undefined;
  readonly viewer: Viewer | undefined;
}

export class NotificationMarker {
  readonly #reader: NotificationReader;
  readonly #writer: NotificationWriter;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#reader = new NotificationReader(table);
    this.#writer = new NotificationWriter(table);
    this.#clock = clock;
  }

  /** Marks what the user may see, newest first after `after`. Stops like `deleteInPages`. */
  async markAll(
    tenant: string,
    organization: Organization,
    { document, userId, locationId, viewer }: MarkedSelection,
    after: string | undefined,
    now: number,
  ): Promise<DeletedRecords> {
    const isInSelection = (located: Parameters<typeof isSelected>[2]) => isSelected(document, { locationId }, located);
    const mark = async (ids: readonly string[]) => {
      const changes = ids.map((id) => ({ id, readByUserIds: [userId] }));
      const outcomes = await this.#writer.update(tenant, organization, changes, { isInSelection });
      return outcomes.map((outcome, index): DeletionResult => [ids[index] ?? '', outcome]);
    };
    const options = { after, now, viewer };
    const unread = this.#reader.listUnreadIds(tenant, organization, document, { userId, locationId }, options);
    return deleteInPages(unread, mark, this.#clock);
  }
}

export const markNotifications: Capability<Pick<NotificationMarker, 'markAll'>> = /* @__PURE__ */ storeCapability(
  NotificationMarker,
  ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
);
