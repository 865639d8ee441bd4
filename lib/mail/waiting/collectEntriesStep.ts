import { hash } from 'node:crypto';
import * as z from 'zod';
import { type Capability, combine } from '../../app/capability.ts';
import type { NewJob, StepResult, StoredJob } from '../../jobs/jobStore.ts';
import type { StepCall } from '../../jobs/runJob.ts';
import type { AudienceDeps } from '../../notifications/audience.ts';
import * as logMessages from '../../observability/logMessages.ts';
import { distinct } from '../../shared/collections.ts';
import { newId } from '../../shared/ids.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { notifyQueue } from '../../workers/notifyQueue.ts';
import type { Timing } from '../../workers/rules/schedule.ts';
import type { QueueSender } from '../../workers/sender.ts';
import * as sendTo from '../../workers/sendTo.ts';
import { mailMessage, mailTiming } from '../mailMessage.ts';
import { MailStore } from '../mailStore.ts';
import { MailQuotas, mailQuotas } from '../quotas/mailQuotas.ts';
import { People } from '../rules/mailRecord.ts';
import { checkEntries } from './entryChecks.ts';
import { type Collection, EntryStore, MAX_ENTRIES } from './entryStore.ts';
import { type Advance, advanceCollection, CollectionState, joiningEntries, WaitingEntry } from './rules.ts';

const Data = z.object({
  organizationId: z.string(),
  organizationKey: z.string(),
  userId: z.string(),
  channel: z.enum(['email', 'slack']),
});
type Data = z.output<typeof Data>;

/** `digests` are decided, but not all of them are stored. */
const Progress = z.object({
  state: CollectionState,
  digests: z
    .array(
      z.object({
        mailId: z.string(),
        people: People,
        entries: z.array(WaitingEntry.pick({ mailId: true, eventId: true, joinsAt: true })),
      }),
    )
    .optional(),
});
type Progress = z.output<typeof Progress>;
type Digest = NonNullable<Progress['digests']>[number];

/** One job collects the entries of a user and channel. It is due at `dueAt` (epoch ms). */
export function collectionJob(of: Collection, organizationId: string, dueAt: number): NewJob {
  const { organizationKey, userId, channel } = of;
  return {
    jobId: `wte_${hash('sha256', JSON.stringify([organizationKey, userId, channel]), 'base64url')}`,
    kind: 'collectEntries',
    data: { organizationId, organizationKey, userId, channel } satisfies Data,
    dueAt,
  };
}

export interface CollectEntriesDeps extends AudienceDeps {
  /** When mails or messages can be sent again (epoch ms). Undefined without a pause. */
  readonly pausedUntil: (of: Collection) => Promise<number | undefined>;
  readonly quotas: MailQuotas;
  readonly queue: QueueSender;
  readonly timing: Timing;
}

/**
 * Decides which entries leave, and stores the decision as the progress of the job. The next step stores the digests and
 * deletes their entries. A repeated step stores the same digests, so a crash loses nothing and sends nothing twice.
 */
export async function collectEntriesStep(
  deps: CollectEntriesDeps,
  { tenant, data, progress }: StoredJob,
  call: Pick<StepCall, 'log'>,
): Promise<StepResult> {
  const { organizationId, ...of } = Data.parse(JSON.parse(data));
  const collection: Collection = { tenant, ...of };
  const { state, digests } =
    progress === undefined ? { state: CollectionState.parse({}) } : Progress.parse(JSON.parse(progress));
  if (digests) await storeDigests(deps, collection, organizationId, digests, call);

  const now = deps.clock();
  const entries = await new EntryStore(deps.table).list(collection);
  const dropped = await dropSeen(deps, collection, joiningEntries(state, entries, now), call);
  // There can be more than were read.
  if (dropped.size > 0 && entries.length === MAX_ENTRIES) return { progress: { state } satisfies Progress };
  const advance = advanceCollection(
    state,
    entries.filter((entry) => !dropped.has(entry)),
    now,
  );
  const allowed = await chargeGroups(deps, collection, advance, now);
  if (allowed.groups.length > 0)
    return {
      progress: {
        state: allowed.state,
        digests: allowed.groups.map((group) => ({
          mailId: newId('mail', now),
          people: peopleIn(group),
          entries: group
            .toSorted((a, b) => a.createdAt - b.createdAt)
            .map(({ mailId, eventId, joinsAt }) => ({ mailId, eventId, joinsAt })),
        })),
      } satisfies Progress,
    };
  if (allowed.wakeAt === undefined) return 'done';
  return { progress: { state: allowed.state } satisfies Progress, notBefore: allowed.wakeAt, isPaced: true };
}

/** Returns the entries that were deleted, because they must not be sent. */
async function dropSeen(
  deps: CollectEntriesDeps,
  collection: Collection,
  joining: readonly WaitingEntry[],
  { log }: Pick<StepCall, 'log'>,
): Promise<ReadonlySet<WaitingEntry>> {
  if (joining.length === 0) return new Set();
  const checked = await checkEntries(
    deps,
    collection,
    joining.map(({ eventId }) => eventId),
    {
      isSent: () => true,
      people: peopleIn(joining),
      contents: 0,
    },
  );
  const dropped = joining.filter((_entry, index) => checked[index]?.reason !== undefined);
  if (dropped.length === 0) return new Set();
  await new EntryStore(deps.table).remove(collection, dropped);
  const reasons = distinct(checked.flatMap(({ reason }) => reason ?? []));
  log.info(logMessages.waitingEntriesDropped, { tenant: collection.tenant, entries: dropped.length, reasons });
  return new Set(dropped);
}

/** If a user changed meanwhile, the earliest counts. */
function peopleIn(entries: readonly WaitingEntry[]): People {
  return Object.assign({}, ...entries.map(({ people }) => people).toReversed()) as People;
}

/**
 * A digest counts as one mail of the recipient. Groups above the limit stay until the end of the hour, and during a pause
 * of the provider until its end.
 */
async function chargeGroups(
  { quotas, pausedUntil: readPause }: CollectEntriesDeps,
  collection: Collection,
  { state, groups, wakeAt }: Advance,
  now: number,
): Promise<Advance> {
  const { tenant, channel } = collection;
  const allowed: Advance['groups'][number][] = [];
  let pausedUntil = groups.length === 0 ? undefined : await readPause(collection);
  for (const group of groups) {
    const recipient = group[0]?.recipient;
    if (pausedUntil !== undefined) break;
    if (channel !== 'email' || recipient === undefined) allowed.push(group);
    else {
      const charged = await quotas.charge(tenant, { kind: 'recipient', recipient }, 1, now);
      if (charged.allowed > 0) allowed.push(group);
      else pausedUntil = charged.endsAt;
    }
  }
  if (pausedUntil === undefined) return { state, groups, wakeAt };
  return { state: { ...state, pausedUntil }, groups: allowed, wakeAt: pausedUntil };
}

async function storeDigests(
  { table, queue, timing, clock }: CollectEntriesDeps,
  collection: Collection,
  organizationId: string,
  digests: readonly Digest[],
  { log }: Pick<StepCall, 'log'>,
): Promise<void> {
  const { tenant, organizationKey, userId, channel } = collection;
  const mails = await new MailStore(table).create(
    tenant,
    digests.map(({ mailId, people, entries }) => ({
      mailId,
      about: {
        kind: 'digest' as const,
        organizationId,
        organizationKey,
        userId,
        channel,
        people,
        eventIds: entries.map(({ eventId }) => eventId),
      },
    })),
    clock(),
    timing,
  );
  await new EntryStore(table).remove(
    collection,
    digests.flatMap(({ entries }) => entries),
  );
  await notifyQueue(
    queue,
    mails.flatMap((mail) => mailMessage(mail, clock())),
    log,
  );
}

export const collectsEntries: Capability<Omit<CollectEntriesDeps, 'pausedUntil'>> = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'BatchWriteItem']),
    quotas: mailQuotas,
    queue: sendTo.mail,
    timing: mailTiming,
  },
  (parts) => ({ ...parts, clock: Date.now }),
);
