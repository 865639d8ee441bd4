import type { Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import type { ItemOutcome } from '../shared/results.ts';
import type { Document } from '../directory/documents.ts';
import { organizationScope } from '../directory/folders/folders.ts';
import type { Organization } from '../directory/organizations.ts';
import type { Table } from '../table/table.ts';
import { type NotificationFilter, NotificationLists } from './notificationLists.ts';
import { NotificationWriter, selects } from './notifications.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** How many notifications one call removes that does not name them, and for how long it looks for more. */
const MOST_REMOVED = 2_000;
const LOOKS_FOR_MILLISECONDS = 15_000;

/** What a removal removed, by id, and whether there may be more to remove. */
export interface NotificationsRemoved {
  readonly results: readonly (readonly [id: string, ItemOutcome])[];
  readonly hasMore: boolean;
}

export class NotificationRemover {
  readonly #lists: NotificationLists;
  readonly #writer: NotificationWriter;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#lists = new NotificationLists(table);
    this.#writer = new NotificationWriter(table);
    this.#clock = clock;
  }

  /**
   * Removes the notifications that a filter selects, of a user those that name the user; named ones all at once, others up to about 2,000,
   * or as many as 15 s allow. `document` is that of the filter, as it was found.
   */
  async remove(
    tenant: string,
    organization: Organization,
    document: Document | undefined,
    filter: NotificationFilter,
  ): Promise<NotificationsRemoved> {
    const scope = organizationScope(tenant, organization);
    const until = this.#clock() + LOOKS_FOR_MILLISECONDS;
    const results: [string, ItemOutcome][] = [];
    const { notificationIds } = filter;
    for await (const ids of notificationIds ? [distinct(notificationIds)] : this.#lists.ids(scope, document, filter)) {
      const removed = await this.#writer.remove(scope, ids, (placed) => selects(document, filter, placed));
      results.push(...ids.map((id, index): [string, ItemOutcome] => [id, removed[index] as ItemOutcome]));
      if (!notificationIds && (results.length >= MOST_REMOVED || this.#clock() > until))
        return { results, hasMore: true };
    }
    return { results, hasMore: false };
  }
}

export const removeNotifications: Capability<Pick<NotificationRemover, 'remove'>> = /* @__PURE__ */ storeCapability(
  NotificationRemover,
  ['BatchGetItem', 'Query', 'DeleteItem'],
);
