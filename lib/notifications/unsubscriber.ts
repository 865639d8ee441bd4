import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, type Table } from '../table/table.ts';
import {
  NotificationSettingsEntity,
  settingsOfDocuments,
  settingsPrefix,
  type SettingsScope,
} from './notificationSettings.ts';

const PAGE = 50;
const PARALLEL = 8;

export interface Subscriber {
  readonly tenant: string;
  readonly organizationId: string;
  readonly userId: string;
}

type User = OrganizationScope & { readonly userId: string };

export class Unsubscriber {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Undefined if the organization was deleted. */
  async findOrganization({ tenant, organizationId }: Subscriber): Promise<Organization | undefined> {
    return this.#table.get(OrganizationEntity, { tenant, organizationId });
  }

  /**
   * Sets `email` to NONE for the organization, and for each document with a level of its own, which would take
   * precedence. The user need not exist: people without a profile get mails when they are mentioned.
   */
  async unsubscribe(subscriber: Subscriber, now: number): Promise<void> {
    const organization = await this.findOrganization(subscriber);
    if (!organization) return;
    const user = { ...organizationScope(subscriber.tenant, organization), userId: subscriber.userId };
    await this.#setLevelNone(user, {}, now);
    const options = { prefix: settingsPrefix, limit: PAGE };
    const read = (after: string | undefined) => this.#table.query(settingsOfDocuments, user, { ...options, after });
    for await (const { values } of pages(read))
      await inParallel(
        values.filter(({ email }) => email !== undefined),
        PARALLEL,
        ({ documentKey }) => this.#setLevelNone(user, { documentKey }, now),
      );
  }

  async #setLevelNone(user: User, scope: SettingsScope, now: number): Promise<void> {
    await retryOnConflict(async () => {
      const stored = await this.#table.get(NotificationSettingsEntity, { ...user, ...scope });
      if (stored?.email === 'NONE') return 'done';
      const value = { ...stored, ...user, ...scope, email: 'NONE' as const, setAt: now };
      return this.#table.tryWrite([insertOrReplace(NotificationSettingsEntity, value, stored, now)]);
    });
  }
}

export const unsubscribeUsers = /* @__PURE__ */ storeCapability(Unsubscriber, ['GetItem', 'PutItem', 'Query']);
