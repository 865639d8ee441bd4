import { activityOps } from '../activities/activities.ts';
import { isActivityEnabled } from '../activities/rules.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { emit } from '../events/outbox.ts';
import type { Stored } from '../table/entity.ts';
import type { Table, WriteOp } from '../table/table.ts';
import { ActivityConfigEntity } from '../workspaces/configs/activityConfig.ts';
import type { ChangeOptions } from './rules/changeOptions.ts';
import {
  type CommentVerb,
  type ContentChange,
  type EventScope,
  toActivities,
  toEvents,
} from './rules/commentEvents.ts';
import type { Comment } from './rules/comments.ts';
import type { Thread } from './rules/threads.ts';

/** Returns whether changes of this kind write activities. */
export type LoggedVerbs = (verb: CommentVerb) => boolean;

/**
 * Returns a function that says which kinds of changes (`verb`) write activities. The customer configures each kind. If `log` is
 * false, no kind writes activities, and the configuration is not read.
 */
export async function readLoggedVerbs(table: Table, tenant: string, log: boolean): Promise<LoggedVerbs> {
  if (!log) return () => false;
  const config = await table.get(ActivityConfigEntity, { tenant });
  return (verb) => isActivityEnabled(config, verb);
}

/** Returns the change event of a deleted thread. If the thread had only one comment, the event names this comment. */
export function threadDeletedEvent(
  { thread, comments }: { thread: Stored<Thread>; comments: readonly Comment[] },
  { actor = thread.from, notify, log }: ChangeOptions,
): ContentChange {
  const comment = thread.commentCount === 1 ? comments[0] : undefined;
  return {
    verb: 'deleted',
    isThreadDeletion: true,
    actor,
    thread,
    revision: thread._r,
    comment,
    comments,
    notify,
    log,
  };
}

/** Returns the operations that write the events and activities of changes. Write them in the transaction of the changes. */
export function changeEventOps(
  { scope, organization, document }: DocumentContext,
  changes: readonly ContentChange[],
  logged: LoggedVerbs,
  now: number,
): WriteOp[] {
  const { tenant } = scope;
  const names = { apiKey: tenant, organization, document };
  const eventScope: EventScope = { names, scope, now };
  return [
    ...toEvents(changes, eventScope).flatMap((event) => emit(tenant, event, now)),
    ...toActivities(changes, eventScope, logged).flatMap((activity) => activityOps(scope, names, activity, now)),
  ];
}
