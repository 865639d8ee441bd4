import { type Capability, combine } from '../../app/capability.ts';
import type { OrganizationScope } from '../../directory/organizationScope.ts';
import { recipientOf } from '../../invitations/entities.ts';
import { jobMessage, type JobStore, startJobs } from '../../jobs/jobStore.ts';
import type { OccurredEvent } from '../../notifications/audience.ts';
import type { Log } from '../../observability/log.ts';
import { inParallel } from '../../shared/inParallel.ts';
import { shardOf } from '../../table/queryShards.ts';
import { tableWith } from '../../table/storeCapability.ts';
import type { Table } from '../../table/table.ts';
import { notifyQueue } from '../../workers/notifyQueue.ts';
import { planAttempt } from '../../workers/rules/schedule.ts';
import type { QueueSender } from '../../workers/sender.ts';
import * as sendTo from '../../workers/sendTo.ts';
import { mailIdOf, mailShards } from '../mailStore.ts';
import { collectedMail, type MessageChannel, type People } from '../rules/mailRecord.ts';
import { collectionJob } from './collectEntriesStep.ts';
import { type Collection, EntryStore } from './entryStore.ts';
import { canFillWindow, fillsWindow, latestEndOf, type Waiting, type WaitingEntry, wakeTimeOf } from './rules.ts';

export interface AddEntriesDeps {
  readonly table: Table;
  readonly jobs: Pick<JobStore, 'wake'>;
  readonly jobQueue: QueueSender;
  readonly clock: () => number;
}

export interface WaitingRecipient {
  readonly userId: string;
  readonly waiting: Waiting;
  /** Of mails. Limits count by the address. */
  readonly address?: string | undefined;
  readonly people: People;
}

export interface EntriesOfEvent {
  readonly event: OccurredEvent & { readonly organizationId?: string | undefined };
  readonly scope: OrganizationScope;
  readonly documentKey: string | undefined;
  readonly channel: MessageChannel;
  readonly recipients: readonly WaitingRecipient[];
}

const PARALLEL = 30;

/** The same event, user and channel have one mail, whether it is sent at once or collected. */
export function entryMailId(
  { tenant, eventId }: Pick<OccurredEvent, 'tenant' | 'eventId'>,
  userId: string,
  channel: MessageChannel,
): string {
  return mailIdOf([tenant, eventId, userId, ...(channel === 'email' ? [] : [channel])]);
}

/** For retries of the mail, and hours of limits. */
const AFTER_LATEST_END = 4 * 24 * 60 * 60_000;

/**
 * Stores an entry for each recipient, and wakes the jobs that collect them. Can run twice for an event. Returns until
 * when the event must be readable (epoch ms), undefined if no entry waits.
 */
export async function addEntries(deps: AddEntriesDeps, of: EntriesOfEvent, log: Log): Promise<number | undefined> {
  const store = new EntryStore(deps.table);
  const { event, scope, documentKey = '', channel } = of;
  const { tenant, eventId, createdAt, organizationId = '' } = event;
  const added = await inParallel(of.recipients, PARALLEL, async ({ userId, waiting, address, people }) => {
    const mailId = entryMailId(event, userId, channel);
    const about = { kind: 'event' as const, eventId, event: event.event, userId, channel };
    const now = deps.clock();
    const entry: WaitingEntry = {
      ...waiting,
      mailId,
      eventId,
      documentKey,
      createdAt,
      people,
      ...(address !== undefined && { recipient: recipientOf(address) }),
    };
    const collection: Collection = { ...scope, userId, channel };
    const mail = collectedMail({ mailId, about, shard: shardOf(mailId, mailShards) }, waiting.joinsAt, now);
    const stored = await store.add(collection, entry, mail);
    if (!stored) return [];
    const end = latestEndOf(stored);
    const wakeAt = await wake(deps, collection, organizationId, stored);
    const delaySeconds = wakeAt === undefined ? undefined : planAttempt(wakeAt, now, 0).delaySeconds;
    if (delaySeconds === undefined) return [{ end, messages: [] }];
    const { jobId } = collectionJob(collection, organizationId, now);
    return [{ end, messages: [jobMessage({ tenant, jobId }, delaySeconds)] }];
  });
  await notifyQueue(
    deps.jobQueue,
    added.flat().flatMap(({ messages }) => messages),
    log,
  );
  const ends = added.flat().map(({ end }) => end);
  return ends.length === 0 ? undefined : Math.max(...ends) + AFTER_LATEST_END;
}

/** Returns when the job must run, if no message was sent for that yet. */
async function wake(
  { table, jobs, clock }: AddEntriesDeps,
  collection: Collection,
  organizationId: string,
  entry: WaitingEntry,
): Promise<number | undefined> {
  const now = clock();
  const wakeBy = (at: number) => jobs.wake(collection.tenant, collectionJob(collection, organizationId, at), now);
  const wakeAt = wakeTimeOf(entry);
  const outcome = await wakeBy(wakeAt);
  if (outcome === 'started') return wakeAt;
  if (canFillWindow(entry) && fillsWindow(await new EntryStore(table).list(collection), entry))
    return (await wakeBy(now)) === 'unchanged' ? undefined : now;
  return outcome === 'earlier' ? wakeAt : undefined;
}

export const addsEntries: Capability<AddEntriesDeps> = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'Query', 'PutItem']),
    jobs: startJobs,
    jobQueue: sendTo.jobs,
  },
  (parts) => ({ ...parts, clock: Date.now }),
);
