import { HiddenCommentDeletionEntity } from '../comments/threadAccessChanges.ts';
import { type AccessOfUser, findUsersWhoCanSee, readAccessOfUsers } from '../content/accessChecks.ts';
import { type DocumentContext, documentScope } from '../content/documentScope.ts';
import type { ThreadPosition } from '../content/rules/hints.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import { DocumentEntity, DocumentReader, type DocumentWithFolder } from '../directory/documents.ts';
import { OrganizationEntity } from '../directory/organizations.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { findRenamed } from '../directory/renamedDocuments.ts';
import type { ThreadAccess } from '../directory/rules/visibility.ts';
import { findUsers, isExistingUser } from '../directory/users.ts';
import { accessForUser, notificationGuards } from '../notifications/notificationReader.ts';
import { NotificationEntity } from '../notifications/notifications.ts';
import { type Notification, notifiesUser } from '../notifications/rules.ts';
import type { Stored } from '../table/entity.ts';
import { itemOf, type Table } from '../table/table.ts';
import { findAnnouncedRecords, type NamedDocument } from './announcedRecords.ts';
import type { LiveChannel, LiveSession } from './entities.ts';
import type { DocumentKeys, Hint, HintCatalogue } from './rules/hints.ts';

/** Neither the document nor its organization is disabled, and no folder above it is deleted. */
export interface OpenDocument extends DocumentContext {
  readonly documentInFolder: DocumentWithFolder;
}

export class AudienceReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async userKeys(tenant: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const users = await findUsers(this.#table, tenant, userIds);
    return new Map(
      users.flatMap((user, index) =>
        isExistingUser(user) ? [[userIds[index] as string, user.internalId] as const] : [],
      ),
    );
  }

  /** A document or organization counts as deleted even if another one was added under the same id. */
  async loadDocument(
    document: DocumentKeys,
    channel: Pick<LiveChannel, 'organizationId' | 'documentId'>,
  ): Promise<DocumentContext | undefined> {
    const { tenant, organizationKey } = document;
    const [organization, named] = await this.#table.batchGet(
      itemOf(OrganizationEntity, { tenant, organizationId: channel.organizationId }),
      itemOf(DocumentEntity, { tenant, organizationKey, documentId: channel.documentId }),
    );
    if (organization?.internalId !== organizationKey) return undefined;
    const stored = await findRenamed(this.#table, document, named);
    if (!stored) return undefined;
    return {
      organization,
      document: stored,
      scope: documentScope(organizationScope(tenant, organization), stored),
    };
  }

  async openDocument(context: DocumentContext | undefined): Promise<OpenDocument | undefined> {
    if (!context || context.organization.disabled || context.document.disabled) return undefined;
    const { scope, document } = context;
    const [documentInFolder] = await new DocumentReader(this.#table).attachFolders(scope, [{ ...document, _r: 0 }]);
    return documentInFolder && { ...context, documentInFolder };
  }

  async accessOfUsers(
    { scope, organization, documentInFolder }: OpenDocument,
    userIds: readonly string[],
    now: number,
  ): Promise<ReadonlyMap<string, AccessOfUser>> {
    return readAccessOfUsers(this.#table, { scope, organization, now }, documentInFolder, userIds);
  }

  async usersWhoCanSee(
    { scope, organization, documentInFolder }: OpenDocument,
    record: RecordAccess,
    sessions: readonly LiveSession[],
    now: number,
  ): Promise<ReadonlySet<string>> {
    const byStoredAccess = Map.groupBy(sessions, ({ hasStoredAccess }) => hasStoredAccess);
    const allowed = await Promise.all(
      [...byStoredAccess].map(([isStored, group]) =>
        findUsersWhoCanSee(
          this.#table,
          { scope, organization, now },
          { ...record, knownUsersOnly: true, document: isStored ? documentInFolder : undefined },
          group.map(({ userId }) => userId),
        ),
      ),
    );
    return new Set(allowed.flatMap((userIds) => [...userIds]));
  }

  async notification(
    document: DocumentKeys,
    key: { readonly id: string; readonly createdAt: number },
  ): Promise<Stored<Notification> | undefined> {
    return this.#table.get(NotificationEntity, { ...document, ...key });
  }

  /**
   * `connected` are users to whom the hint is addressed. A notification for all (`notifyAll`) is also for users whom it
   * does not name, and with `isForOthers` for all users of `sessions`.
   */
  async usersWhoCanReadNotification(
    document: OpenDocument,
    notification: Stored<Notification>,
    {
      connected,
      sessions,
      isForOthers,
    }: {
      readonly connected: readonly string[];
      readonly sessions: readonly LiveSession[];
      readonly isForOthers: boolean;
    },
    now: number,
  ): Promise<ReadonlySet<string>> {
    const { scope, organization, documentInFolder } = document;
    const located = { documentKey: scope.documentKey, notification };
    const [guard = {}] = await notificationGuards(this.#table, scope, organization.organizationId, [located]);
    const named = connected.filter((userId) => notifiesUser(notification, userId));
    const unnamed = new Set(notification.notifyAll ? connected.filter((userId) => !named.includes(userId)) : []);
    const others = sessions.filter(({ userId }) => (isForOthers && notification.notifyAll) || unnamed.has(userId));
    const byToken = new Set(sessions.flatMap(({ userId, hasStoredAccess }) => (hasStoredAccess ? [] : [userId])));
    const record = accessForUser(guard, documentInFolder, true);
    const sees = await Promise.all([
      findUsersWhoCanSee(
        this.#table,
        { scope, organization, now },
        record,
        named.filter((userId) => !byToken.has(userId)),
      ),
      findUsersWhoCanSee(
        this.#table,
        { scope, organization, now },
        { ...record, document: undefined },
        named.filter((userId) => byToken.has(userId)),
      ),
      findUsersWhoCanSee(
        this.#table,
        { scope, organization, now },
        accessForUser(guard, documentInFolder, false),
        [...unnamed].filter((userId) => !byToken.has(userId)),
      ),
      others.length > 0 ? this.usersWhoCanSee(document, guard, others, now) : [],
    ]);
    return new Set(sees.flatMap((userIds) => [...userIds]));
  }

  async announcedRecords(
    document: NamedDocument,
    hints: readonly Hint[],
    announced: HintCatalogue['announced'],
  ): Promise<(ThreadAccess | undefined)[]> {
    return findAnnouncedRecords(this.#table, document, hints, announced);
  }

  async hiddenDeletions(
    document: DocumentKeys,
    comments: readonly { readonly thread: ThreadPosition; readonly commentId: number }[],
  ): Promise<(ThreadAccess | undefined)[]> {
    const keys = comments.map(({ thread: { annotationId, createdAt: threadCreatedAt }, commentId }) => ({
      ...document,
      annotationId,
      threadCreatedAt,
      commentId,
    }));
    const deletions = await this.#table.getMany(HiddenCommentDeletionEntity, keys);
    return deletions.map((deletion) => deletion && (JSON.parse(deletion.access) as ThreadAccess));
  }
}
