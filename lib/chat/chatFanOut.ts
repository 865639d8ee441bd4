import { type Capability, combine } from '../app/capability.ts';
import { recipientsOf } from '../events/rules/recipients.ts';
import { planRecipients, reachableRecipients } from '../mail/mailFanOut.ts';
import { mailMessage, mailTiming } from '../mail/mailMessage.ts';
import { createMails, mailIdOf, type MailStore } from '../mail/mailStore.ts';
import type { ChatSubject } from '../mail/rules/mailRecord.ts';
import { addEntries, type AddEntriesDeps, addsEntries, entryMailId } from '../mail/waiting/addEntries.ts';
import { waitingOf } from '../mail/waiting/rules.ts';
import {
  type AudienceDeps,
  type EventConsumer,
  type OccurredEvent,
  readRecipientRules,
} from '../notifications/audience.ts';
import type { Log } from '../observability/log.ts';
import { readOnce } from '../shared/readOnce.ts';
import { BatchReader } from '../table/batchReader.ts';
import { tableWith } from '../table/storeCapability.ts';
import { notifyQueue } from '../workers/notifyQueue.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { NotificationConfigEntity } from '../workspaces/configs/notificationConfig.ts';
import { readChat } from './chatStore.ts';
import { isTriggered, mayBePosted, usableParts } from './rules/chatEvents.ts';

export interface ChatFanOutDeps extends AudienceDeps {
  readonly mails: Pick<MailStore, 'create'>;
  readonly queue: QueueSender;
  readonly timing: Timing;
  readonly entries: AddEntriesDeps;
}

interface ChatMessage {
  readonly mailId: string;
  readonly about: ChatSubject;
}

/**
 * Each message is a `Mail`, stored before its queue message is sent. Direct messages wait like mails. Posts in the
 * channel never wait.
 */
export function fanOutChat(deps: ChatFanOutDeps): (log: Log) => EventConsumer {
  const { table, clock } = deps;
  return (log) => {
    const reader = BatchReader.of(table);
    const chatOf = readOnce((tenant) => readChat(reader, tenant, clock()));
    const notificationsOf = readOnce((tenant) => reader.get(NotificationConfigEntity, { tenant }));
    const partsOf = async ({ tenant, event }: Pick<OccurredEvent, 'tenant' | 'event'>) => {
      const chat = await chatOf(tenant);
      return chat && isTriggered(chat.config, event) ? usableParts(chat.config, chat.paused) : new Set();
    };
    const concerns: EventConsumer['concerns'] = async (event) => (await partsOf(event)).size > 0;
    const consume: EventConsumer['consume'] = async (event) => {
      const parts = await partsOf(event);
      if (parts.has('channel') && mayBePosted(event.payload)) await store(deps, event, [channelPostOf(event)], log);
      return parts.has('direct') ? addDirectMessages(deps, event, () => notificationsOf(event.tenant), log) : undefined;
    };
    return { concerns, consume };
  };
}

function channelPostOf({ tenant, eventId, event }: OccurredEvent): ChatMessage {
  return {
    mailId: mailIdOf([tenant, eventId, 'channelPost', 'slack']),
    about: { kind: 'channelPost', eventId, event },
  };
}

/** Returns until when the event must be readable (epoch ms), if messages wait. */
async function addDirectMessages(
  deps: ChatFanOutDeps,
  event: OccurredEvent,
  readNotifications: () => Promise<Parameters<typeof waitingOf>[0]>,
  log: Log,
): Promise<number | undefined> {
  const { tenant, eventId, createdAt, payload } = event;
  const { audience } = payload;
  if (!audience) return undefined;
  const rules = await readRecipientRules(deps, tenant, event);
  const userIds = recipientsOf(audience, 'slack', rules);
  if (!rules.location || userIds.length === 0) return undefined;
  const recipients = await reachableRecipients(deps.table, event, userIds);
  const waiting = waitingOf(await readNotifications(), createdAt);
  const planned = await planRecipients(deps.table, event, 'slack', recipients, waiting);
  const messages = planned
    .filter((recipient) => !recipient.waiting)
    .map(({ userId }): ChatMessage => ({
      mailId: entryMailId(event, userId, 'slack'),
      about: { kind: 'event', eventId, event: event.event, userId, channel: 'slack' },
    }));
  await store(deps, event, messages, log);
  const { organizationKey, documentKey } = rules.location;
  const of = { event, scope: { tenant, organizationKey }, documentKey, channel: 'slack' as const };
  const held = planned.flatMap(({ userId, people, waiting: until }) =>
    until ? [{ userId, people, waiting: until }] : [],
  );
  return addEntries(deps.entries, { ...of, recipients: held }, log);
}

async function store(
  { mails, queue, timing, clock }: ChatFanOutDeps,
  { tenant }: OccurredEvent,
  messages: readonly ChatMessage[],
  log: Log,
): Promise<void> {
  const created = await mails.create(tenant, messages, clock(), timing);
  const now = clock();
  await notifyQueue(
    queue,
    created.flatMap((mail) => mailMessage(mail, now)),
    log,
  );
}

export const chatFanOut: Capability<(log: Log) => EventConsumer> = /* @__PURE__ */ combine(
  {
    mails: createMails,
    queue: sendTo.mail,
    timing: mailTiming,
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']),
    entries: addsEntries,
  },
  (parts) => fanOutChat({ ...parts, clock: Date.now }),
);
