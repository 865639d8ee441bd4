import { activityEnabled } from '../activities/rules.ts';
import {
  toActivities,
  type CommentVerb,
  toEvents,
  type ContentChange,
  type EventScope,
} from './rules/commentEvents.ts';
import type { Comment } from './rules/comments.ts';
import type { Thread } from './rules/threads.ts';
import type { ContentUser } from '../content/rules/user.ts';
import { ActivityConfigEntity } from '../workspaces/configs/activityConfig.ts';
import type { Stored } from '../table/entity.ts';
import { emit } from '../events/outbox.ts';
import type { Table, WriteOp } from '../table/table.ts';
import { activityOps } from '../activities/activities.ts';
import type { DocumentContext } from '../content/documentScope.ts';

/** Who changes something of a thread, and who is to hear of it. */
export interface ChangeOptions {
  /** The author of what is changed when left out. */
  readonly actor?: ContentUser | undefined;
  /** Whether others are told, and whether it is logged. */
  readonly notify: boolean;
  readonly log: boolean;
  readonly now: number;
}

/** Where something happened, as events tell it. */
export function eventScope({ scope: scope, organization, document }: DocumentContext, now: number): EventScope {
  return { names: { apiKey: scope.tenant, organization, document }, scope, now };
}

/** Whether what happened by a verb is logged. */
export type LoggedVerbs = (verb: CommentVerb) => boolean;

/** Which verbs are logged: none when nothing is asked to be, else those that the customer's configuration has on. One read at most. */
export async function readLoggedVerbs(table: Table, tenant: string, asked: boolean): Promise<LoggedVerbs> {
  if (!asked) return () => false;
  const config = await table.get(ActivityConfigEntity, { tenant });
  return (verb) => activityEnabled(config, verb);
}

/** That a thread was removed: one happening, about its comment when it had only that one. */
export function threadDeletedEvent(
  { thread, comments }: { thread: Stored<Thread>; comments: readonly Comment[] },
  { actor = thread.from, notify, log }: ChangeOptions,
): ContentChange {
  return {
    verb: 'deleted',
    actor,
    thread,
    revision: thread._r,
    comment: thread.commentCount === 1 ? comments[0] : undefined,
    comments,
    notify,
    log,
  };
}

/** The events and activities of what happened, for the transaction in which it does. */
export function changeEventOps(
  found: DocumentContext,
  happenings: readonly ContentChange[],
  logged: LoggedVerbs,
  now: number,
): WriteOp[] {
  const at = eventScope(found, now);
  return [
    ...toEvents(happenings, at).flatMap((event) => emit(found.scope.tenant, event, now)),
    ...toActivities(happenings, at, logged).flatMap((activity) => activityOps(found.scope, at.names, activity, now)),
  ];
}
