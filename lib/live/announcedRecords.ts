import { ActivityEntity } from '../activities/entities.ts';
import { type ActivityResponse, commentIdOf, threadIdOf, toActivityResponse } from '../activities/rules.ts';
import { commentAccessOf } from '../comments/threadAccessChanges.ts';
import { CommentEntity, commentKey, ThreadEntity } from '../comments/threads.ts';
import { fieldsOfActivity } from '../comments/visibleActivities.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { findRecordIds, recordIdKey } from '../content/recordIds.ts';
import type { HintIds } from '../content/rules/hints.ts';
import type { ThreadAccess } from '../directory/rules/visibility.ts';
import { distinct } from '../shared/collections.ts';
import { readDefined } from '../shared/readDefined.ts';
import type { Table } from '../table/table.ts';
import type { Hint, HintCatalogue } from './rules/hints.ts';

export interface NamedDocument {
  readonly scope: DocumentScope;
  readonly organizationId: string;
  readonly documentId: string;
}

interface Target {
  readonly annotationId: string;
  readonly commentId?: number | undefined;
  readonly reactionId?: string;
  readonly activity?: ActivityResponse;
}

/** Returns who may read each record, apart from the access to the document. Undefined if there is no such record. */
export async function findAnnouncedRecords(
  table: Table,
  { scope, organizationId, documentId }: NamedDocument,
  hints: readonly Pick<Hint, 'type'>[],
  announced: HintCatalogue['announced'],
): Promise<(ThreadAccess | undefined)[]> {
  const idsOf = (hint: Pick<Hint, 'type'>) => (hint as { readonly ids?: HintIds }).ids ?? {};
  const activityIds = distinct(
    hints.flatMap((hint) => (announced[hint.type] === 'activity' ? String(idsOf(hint).activityId) : [])),
  );
  const activities = await findActivities(table, scope, organizationId, activityIds);
  const open: ThreadAccess = { authorId: '', organizationId };
  const targets = hints.map((hint): Target | 'open' | undefined => {
    const { annotationId, commentId, reactionId, activityId } = idsOf(hint);
    switch (announced[hint.type]) {
      case 'thread':
        return { annotationId: String(annotationId) };
      case 'comment':
        return { annotationId: String(annotationId), commentId: Number(commentId) };
      case 'reaction': {
        if (annotationId === undefined) return 'open';
        return { annotationId: String(annotationId), commentId: Number(commentId), reactionId: String(reactionId) };
      }
      case 'activity': {
        const activity = activities.get(String(activityId));
        const threadId = activity && threadIdOf(activity);
        if (!activity || threadId === undefined) return activity && 'open';
        return { annotationId: threadId, commentId: commentIdOf(activity), activity };
      }
      case 'document':
      case 'former':
      case 'formerNotification':
      case 'notification':
      case 'user':
        return 'open';
      case undefined:
        return undefined;
    }
  });
  const existing = targets.filter((target) => typeof target === 'object');
  const accesses = (await findAccesses(table, { scope, organizationId, documentId }, existing)).values();
  return targets.map((target) => {
    if (target === 'open') return open;
    return target && accesses.next().value;
  });
}

async function findActivities(
  table: Table,
  scope: DocumentScope,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ActivityResponse>> {
  if (ids.length === 0) return new Map();
  const names = ids.map((id) => recordIdKey('activity', id));
  const positions = await findRecordIds(table, scope, names);
  const activities = await readDefined(
    ids.map((id, index) => {
      const position = positions[index];
      return position && { ...scope, id, createdAt: position.createdAt };
    }),
    (keys) => table.getMany(ActivityEntity, keys),
  );
  const responses = { apiKey: scope.tenant, organizationId };
  return new Map(
    activities.flatMap((activity) =>
      activity ? [[activity.id, toActivityResponse(responses, activity)] as const] : [],
    ),
  );
}

async function findAccesses(
  table: Table,
  { scope, organizationId, documentId }: NamedDocument,
  targets: readonly Target[],
): Promise<(ThreadAccess | undefined)[]> {
  if (targets.length === 0) return [];
  const threadIds = distinct(targets.map(({ annotationId }) => annotationId));
  const reactionIds = distinct(targets.flatMap(({ reactionId }) => reactionId ?? []));
  const positions = await findRecordIds(table, scope, [
    ...threadIds.map((id) => recordIdKey('thread', id, documentId)),
    ...reactionIds.map((id) => recordIdKey('reaction', id, documentId)),
  ]);
  const keyOf = new Map(
    threadIds.map((annotationId, index) => {
      const createdAt = positions[index]?.createdAt;
      return [annotationId, createdAt === undefined ? undefined : { annotationId, createdAt }] as const;
    }),
  );
  const reactions = new Set(reactionIds.filter((_id, index) => positions[threadIds.length + index]));
  const [threads, comments] = await Promise.all([
    readDefined(
      targets.map(({ annotationId }) => {
        const key = keyOf.get(annotationId);
        return key && { ...scope, ...key };
      }),
      (keys) => table.getMany(ThreadEntity, keys),
    ),
    readDefined(
      targets.map(({ annotationId, commentId }) => {
        const key = keyOf.get(annotationId);
        return key && commentId !== undefined ? commentKey(scope, key, commentId) : undefined;
      }),
      (keys) => table.getMany(CommentEntity, keys),
    ),
  ]);
  return targets.map(({ commentId, reactionId, activity }, index) => {
    const [thread, comment] = [threads[index], comments[index]];
    const fields = activity && fieldsOfActivity(activity, thread, comment);
    if (!thread || (commentId !== undefined && !comment)) return undefined;
    if ((activity && !fields) || (reactionId !== undefined && !reactions.has(reactionId))) return undefined;
    const access = commentAccessOf(thread, comment ?? {}, organizationId);
    return { ...access, accessFields: [...(access.accessFields ?? []), ...(fields ?? [])] };
  });
}
