import type { Capability } from '../capability.ts';
import type { NotificationLevels } from '../domain/events/recipients.ts';
import type { Subscriber } from '../domain/mails/subscriber.ts';
import { inParallel } from '../inParallel.ts';
import { NotificationSettingsEntity, type SettingsScope } from './content/notificationSettings.ts';
import { type Place, placeOf } from './folders.ts';
import { keyPrefix } from './keys.ts';
import { type Organization, OrganizationEntity } from './organizations.ts';
import { settle } from './settle.ts';
import { insert, openTable, type Queried, replace, type Table } from './table.ts';

const PAGE = 50;
/** Settings that are written at a time. */
const PARALLEL = 8;

type User = Place & { readonly userId: string };

/** What the sort keys of settings for documents begin with; the rest is the document's internal id, in which nothing is escaped. */
const DOCUMENTS = ['SETTINGS'];

/** Settings for a document, with its id. */
const withDocument: Queried<NotificationLevels & { readonly document: string }, User> = {
  partition: NotificationSettingsEntity.partition,
  fromItem(item, now) {
    const settings = NotificationSettingsEntity.fromItem(item, now);
    return settings && { ...settings, document: String(item.SK).slice(keyPrefix(DOCUMENTS).length) };
  },
};

/** Ends the mails that users get of an organization. */
export class Unsubscriber {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The organization whose mails it is about; undefined when it is gone. */
  async organization({ tenant, organizationId }: Subscriber): Promise<Organization | undefined> {
    return this.#table.get(OrganizationEntity, { tenant, organizationId });
  }

  /**
   * Sets the user's e-mail level to NONE for the organization, and for every document of it with a level of its own, which would win over
   * that. The user need not be known: whoever is mentioned gets mail. Later settings by the customer count again.
   */
  async unsubscribe(subscriber: Subscriber): Promise<void> {
    const organization = await this.organization(subscriber);
    if (!organization) return;
    const user = { ...placeOf(subscriber.tenant, organization), userId: subscriber.userId };
    await this.#silence(user, {});
    let after: string | undefined;
    do {
      const page = await this.#table.query(withDocument, user, { prefix: DOCUMENTS, limit: PAGE, after });
      await inParallel(page.values.filter(({ email }) => email !== undefined), PARALLEL, ({ document }) => this.#silence(user, { document }));
      after = page.next;
    } while (after !== undefined);
  }

  async #silence(user: User, scope: SettingsScope): Promise<void> {
    await settle(async () => {
      const stored = await this.#table.get(NotificationSettingsEntity, { ...user, ...scope });
      if (stored?.email === 'NONE') return 'done';
      const value = { ...stored, ...user, ...scope, email: 'NONE' as const };
      const outcome = await this.#table.write([stored ? replace(NotificationSettingsEntity, value, stored._r) : insert(NotificationSettingsEntity, value)]);
      return outcome === 'done' ? 'done' : 'conflict';
    });
  }
}

export const unsubscribeUsers: Capability<Unsubscriber> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'PutItem', 'Query'] }],
  env: ['TABLE_NAME'],
  open: (env) => new Unsubscriber(openTable(env)),
};
