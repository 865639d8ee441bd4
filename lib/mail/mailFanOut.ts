import { type Capability, combine } from '../app/capability.ts';
import { findUsers, type MaybeUser } from '../directory/users.ts';
import { recipientsOf } from '../events/rules/recipients.ts';
import {
  type AudienceDeps,
  type EventConsumer,
  type OccurredEvent,
  readRecipientRules,
} from '../notifications/audience.ts';
import type { Log } from '../observability/log.ts';
import { distinctBy } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { mailAddressOf } from '../shared/mailAddress.ts';
import { readOnce } from '../shared/readOnce.ts';
import { BatchReader } from '../table/batchReader.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { notifyQueue } from '../workers/notifyQueue.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { NotificationConfigEntity } from '../workspaces/configs/notificationConfig.ts';
import { mailMessage, mailTiming } from './mailMessage.ts';
import {
  createMails,
  MailEntity,
  mailIdOf,
  type MailKey,
  type MailStore,
  planMail,
  readMailConfig,
} from './mailStore.ts';
import { type MailQuotas, mailQuotas, type QuotaState } from './quotas/mailQuotas.ts';
import { findPerson, parseEventContent } from './rules/eventMailContent.ts';
import type { MailSubject, MessageChannel, OwnerSubject, People, ReadyMail } from './rules/mailRecord.ts';
import { isEventMailed } from './rules/provider.ts';
import {
  addEntries,
  type AddEntriesDeps,
  addsEntries,
  entryMailId,
  type WaitingRecipient,
} from './waiting/addEntries.ts';
import { holdUntil, type Waiting, waitingOf } from './waiting/rules.ts';

interface CreateMailsDeps {
  readonly mails: Pick<MailStore, 'create'>;
  readonly queue: QueueSender;
  readonly timing: Timing;
  readonly clock: () => number;
}

export interface MailFanOutDeps extends CreateMailsDeps, AudienceDeps {
  readonly mails: Pick<MailStore, 'create' | 'createWith'>;
  readonly quotas: MailQuotas;
  readonly entries: AddEntriesDeps;
}

/**
 * Each mail is stored before its queue message is sent: an event that is consumed again creates no second mail, and the
 * sweep replaces a message that cannot be sent. Mails that must wait are entries.
 */
export function fanOutMails(deps: MailFanOutDeps): (log: Log) => EventConsumer {
  const { table, clock } = deps;
  return (log) => {
    const reader = BatchReader.of(table);
    const configOf = readOnce((tenant) => readMailConfig(reader, tenant, clock()));
    const notificationsOf = readOnce((tenant) => reader.get(NotificationConfigEntity, { tenant }));
    const concerns: EventConsumer['concerns'] = async ({ tenant, event }) =>
      isEventMailed(await configOf(tenant), event);
    const consume: EventConsumer['consume'] = async (event) => {
      const { tenant, createdAt } = event;
      const { audience } = event.payload;
      if (!audience || !(await concerns(event))) return undefined;
      const rules = await readRecipientRules(deps, tenant, event);
      const userIds = recipientsOf(audience, 'email', rules);
      if (!rules.location || userIds.length === 0) return undefined;
      const recipients = await reachableRecipients(table, event, userIds);
      const waiting = waitingOf(await notificationsOf(tenant), createdAt);
      const planned = await holdAboveWriterLimit(deps, event, recipients, waiting);
      const held = await storeAllowedMails(deps, event, planned, log);
      const { organizationKey, documentKey } = rules.location;
      const entries = { event, scope: { tenant, organizationKey }, documentKey, channel: 'email' as const };
      return addEntries(deps.entries, { ...entries, recipients: held }, log);
    };
    return { concerns, consume };
  };
}

interface MailRecipient {
  readonly userId: string;
  readonly address: string;
  readonly people: People;
}

type PlannedRecipient = MailRecipient & { readonly waiting: Waiting | undefined; readonly isStored: boolean };

/** One user for each address, and none with the address of the actor. */
export async function reachableRecipients(
  table: Table,
  { tenant, payload: { audience, data } }: OccurredEvent,
  userIds: readonly string[],
): Promise<MailRecipient[]> {
  const actorIds = audience?.actorId === undefined ? [] : [audience.actorId];
  const [actor, ...users] = await findUsers(table, tenant, [...actorIds, ...userIds]).then((found) =>
    actorIds.length === 0 ? [undefined, ...found] : found,
  );
  const content = parseEventContent(data);
  const ofActor = [actor, content.actionUser].map((profile) => mailAddressOf(profile)?.toLowerCase());
  const recipients = userIds.flatMap((userId, index) => {
    const address = mailAddressOf(users[index], findPerson(content, userId));
    if (address === undefined || ofActor.includes(address.toLowerCase())) return [];
    return [{ userId, address, people: peopleOf([actor, users[index]]) }];
  });
  return distinctBy(recipients, ({ address }) => address.toLowerCase());
}

function peopleOf(users: readonly MaybeUser[]): People {
  return Object.fromEntries(users.flatMap((user) => (user ? [[user.userId, user.internalId]] : [])));
}

/** The entries of an event that is consumed again stay entries, whatever the settings are now. */
export async function planRecipients(
  table: Table,
  event: OccurredEvent,
  channel: MessageChannel,
  recipients: readonly MailRecipient[],
  waiting: Waiting | undefined,
): Promise<PlannedRecipient[]> {
  const { tenant, createdAt } = event;
  const stored = await table.getMany(
    MailEntity,
    recipients.map(({ userId }) => ({ tenant, mailId: entryMailId(event, userId, channel) })),
  );
  return recipients.map((recipient, index) => {
    const mail = stored[index];
    const isEntry = mail?.status === 'COLLECTED';
    return {
      ...recipient,
      waiting: waiting ?? (isEntry ? { joinsAt: createdAt } : undefined),
      isStored: mail !== undefined,
    };
  });
}

async function holdAboveWriterLimit(
  { table, quotas, clock }: MailFanOutDeps,
  event: OccurredEvent,
  recipients: readonly MailRecipient[],
  waiting: Waiting | undefined,
): Promise<PlannedRecipient[]> {
  const { tenant, payload } = event;
  const planned = await planRecipients(table, event, 'email', recipients, waiting);
  const writer = payload.audience?.actorId;
  // An event that is consumed again does not count again.
  const added = planned.filter(({ isStored }) => !isStored);
  if (writer === undefined || added.length === 0) return planned;
  const { allowed, endsAt } = await quotas.charge(tenant, { kind: 'writer', userId: writer }, added.length, clock());
  const held = new Set(added.slice(allowed));
  return planned.map((recipient) =>
    held.has(recipient) ? { ...recipient, waiting: holdUntil(waiting, endsAt) } : recipient,
  );
}

const PARALLEL = 20;

/** Stores the mails that need not wait. Returns the recipients that must, also those above the limit of an address. */
async function storeAllowedMails(
  deps: MailFanOutDeps,
  event: OccurredEvent,
  recipients: readonly PlannedRecipient[],
  log: Log,
): Promise<WaitingRecipient[]> {
  const { quotas, queue, clock } = deps;
  const immediate = recipients.filter(({ waiting }) => !waiting);
  const states = await quotas.read(
    event.tenant,
    immediate.map(({ address }) => ({ kind: 'recipient', address })),
    clock(),
  );
  const stored = await inParallel(immediate, PARALLEL, (recipient, index) =>
    storeMail(deps, event, recipient, states[index]),
  );
  const now = clock();
  await notifyQueue(
    queue,
    stored.flatMap(({ mail }) => (mail ? mailMessage(mail, now) : [])),
    log,
  );
  return [
    ...recipients.flatMap(({ waiting, userId, address, people }) =>
      waiting ? [{ userId, address, people, waiting }] : [],
    ),
    ...immediate.flatMap((recipient, index) => {
      const until = stored[index]?.until;
      return until === undefined ? [] : [{ ...recipient, waiting: holdUntil(undefined, until) }];
    }),
  ];
}

/** `until` is the end of the hour (epoch ms) of an address that has got all its mails. */
async function storeMail(
  { mails, quotas, clock, timing }: MailFanOutDeps,
  event: OccurredEvent,
  { userId, address }: MailRecipient,
  read: QuotaState | undefined,
): Promise<{ readonly mail?: ReadyMail & MailKey; readonly until?: number }> {
  const { tenant, eventId } = event;
  const mailId = entryMailId(event, userId, 'email');
  const about = { kind: 'event' as const, eventId, event: event.event, userId };
  let state = read;
  return retryOnConflict(async () => {
    const now = clock();
    state ??= (await quotas.read(tenant, [{ kind: 'recipient', address }], now))[0];
    if (!state) return {};
    if (state.left === 0) return { until: state.endsAt };
    const stored = await mails.createWith(
      tenant,
      { mailId, about },
      quotas.chargeOps(tenant, state, 1, now),
      now,
      timing,
    );
    state = undefined;
    if (stored === 'exists') return { mail: { ...planMail(tenant, { mailId, about }, now, timing).mail } };
    return stored === 'conflict' ? 'conflict' : { mail: stored };
  });
}

async function storeMails(
  { mails, timing, clock }: CreateMailsDeps,
  tenant: string,
  requested: readonly { mailId: string; about: MailSubject }[],
): Promise<QueueMessage[]> {
  const created = await mails.create(tenant, requested, clock(), timing);
  const now = clock();
  return created.flatMap((mail) => mailMessage(mail, now));
}

export type EndpointFailure = Omit<Extract<MailSubject, { kind: 'endpointFailure' }>, 'kind'>;

/** The same endpoint, `stage` and `failingSince` cause only one mail. */
export type NotifyOwnerOfFailure = (tenant: string, failure: EndpointFailure) => Promise<void>;

/** Sent even if mails about events are off, and once in 30 days for the same kind and `occasion`. */
export type NotifyOwner = (
  tenant: string,
  about: OwnerSubject,
  occasion: readonly (string | number)[],
) => Promise<void>;

export function ownerNotifier(deps: CreateMailsDeps): NotifyOwner {
  return async (tenant, about, occasion) =>
    deps.queue.send(await storeMails(deps, tenant, [{ mailId: mailIdOf([tenant, about.kind, ...occasion]), about }]));
}

const creation = { mails: createMails, queue: sendTo.mail, timing: mailTiming };

export const mailFanOut: Capability<(log: Log) => EventConsumer> = /* @__PURE__ */ combine(
  {
    ...creation,
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']),
    quotas: mailQuotas,
    entries: addsEntries,
  },
  (parts) => fanOutMails({ ...parts, clock: Date.now }),
);

export const notifyOwners: Capability<NotifyOwner> = /* @__PURE__ */ combine(creation, (parts) =>
  ownerNotifier({ ...parts, clock: Date.now }),
);

export const notifyOwnersOfFailures: Capability<NotifyOwnerOfFailure> = /* @__PURE__ */ combine(
  { notify: notifyOwners },
  ({ notify }): NotifyOwnerOfFailure =>
    (tenant, failure) => {
      const { endpointId, stage, failingSince } = failure;
      return notify(tenant, { kind: 'endpointFailure', ...failure }, [endpointId, stage, failingSince]);
    },
);
