import { activityOps } from '../activities/activityWriter.ts';
import { isActivityEnabled } from '../activities/rules.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { emit } from '../events/outbox.ts';
import type { Table } from '../table/table.ts';
import { ActivityConfigEntity } from '../workspaces/configs/activityConfig.ts';
import type { CommitTarget } from './commitThread.ts';
import { type EventScope, toActivities, toEvents } from './rules/commentEvents.ts';

/**
 * Returns the target of a request's changes. Without `log`, changes write no activities, and the configuration of
 * activities is not read.
 */
export async function openTarget(
  table: Table,
  { scope, organization, document }: DocumentContext,
  { log, now }: { readonly log: boolean; readonly now: number },
): Promise<CommitTarget> {
  const { tenant } = scope;
  const config = log ? await table.get(ActivityConfigEntity, { tenant }) : undefined;
  const names = { apiKey: tenant, organization, document };
  const eventScope: EventScope = { names, scope, now };
  return {
    scope,
    now,
    report: (changes) => [
      ...toEvents(changes, eventScope).flatMap((event) => emit(tenant, event, now)),
      ...toActivities(changes, eventScope, (verb) => log && isActivityEnabled(config, verb)).flatMap((activity) =>
        activityOps(scope, names, activity, now),
      ),
    ],
  };
}
