import { isCommentOf } from '../comments/rules/removedUsers.ts';
import { CommentEntity } from '../comments/threads.ts';
import { removeReadInvolvement } from '../content/involvements.ts';
import { findRecordIds, recordIdKey } from '../content/recordIds.ts';
import {
  type DocumentRemoval,
  type EraseHook,
  joinOps,
  recordsUpTo,
  type RemoveInvolved,
  writeEachRecord,
} from '../content/userRemoval.ts';
import type { Stored } from '../table/entity.ts';
import { replace, type WriteOp } from '../table/table.ts';
import { notificationDeletionOps, NotificationEntity } from './notifications.ts';
import { eraseFromNotification, type Notification, quotedComment, removeFromNotification } from './rules.ts';

/** Must run before comments are erased, because it reads who wrote the quoted comments. */
export const eraseNotifications: EraseHook = {
  entities: [NotificationEntity],
  isEarly: true,
  async erase(removal, after) {
    const { table, scope, removedUsers } = removal;
    const page = await recordsUpTo(removal, NotificationEntity, after);
    const quoting = page.values.flatMap((notification) => {
      const quoted = quotedComment(notification);
      return quoted ? [{ notification, quoted }] : [];
    });
    const comments = await table.getMany(
      CommentEntity,
      quoting.map(({ quoted }) => ({ ...scope, ...quoted })),
    );
    const quotes = new Set(
      quoting.flatMap(({ notification }, index) =>
        comments[index] && isCommentOf(comments[index], removedUsers) ? [notification.id] : [],
      ),
    );
    const erase = (notification: Stored<Notification>) =>
      eraseFromNotification(notification, removedUsers, quotes.has(notification.id));
    await writeEachRecord(
      removal,
      page.values.filter((notification) => erase(notification) !== notification),
      async ({ id, createdAt }) => {
        const notification = await table.get(NotificationEntity, { ...scope, id, createdAt });
        const erased = notification && erase(notification);
        if (!notification || erased === notification) return [];
        return erased
          ? [replace(NotificationEntity, { ...scope, ...erased }, notification._r)]
          : deletionOps(removal, notification);
      },
    );
    return page.next;
  },
};

/** Deletes the notification if no recipient remains. An erasure also deletes it if the user caused it. */
export const removeNotifiedUser: RemoveInvolved = async (removal, involvement) => {
  const { table, scope, removedUsers, mode } = removal;
  const notification = await table.get(NotificationEntity, {
    ...scope,
    id: involvement.id,
    createdAt: involvement.createdAt,
  });
  if (!notification) return table.tryWrite([removeReadInvolvement(scope, involvement)]);
  const remaining =
    mode === 'remove'
      ? removeFromNotification(notification, removedUsers)
      : eraseFromNotification(notification, removedUsers);
  if (!remaining)
    return table.tryWrite(
      joinOps(await deletionOps(removal, notification), [removeReadInvolvement(scope, involvement)]),
    );
  return table.tryWrite([
    ...(remaining === notification ? [] : [replace(NotificationEntity, { ...scope, ...remaining }, notification._r)]),
    removeReadInvolvement(scope, involvement),
  ]);
};

/**
 * Returns no operations if the notification's document was deleted and another document has its id by now. The purge of
 * the deleted document deletes the notification.
 */
async function deletionOps({ table, scope }: DocumentRemoval, notification: Stored<Notification>): Promise<WriteOp[]> {
  const [position] = await findRecordIds(table, scope, [recordIdKey('notification', notification.id)]);
  return position ? notificationDeletionOps(scope, notification) : [];
}
