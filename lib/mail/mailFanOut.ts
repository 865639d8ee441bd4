import { type Capability, combine } from '../app/capability.ts';
import { findUsers } from '../directory/users.ts';
import { recipientsOf } from '../events/rules/recipients.ts';
import { type AudienceDeps, type EventConsumer, readRecipientRules } from '../notifications/audience.ts';
import type { Log } from '../observability/log.ts';
import { mailAddressOf } from '../shared/mailAddress.ts';
import { readOnce } from '../shared/readOnce.ts';
import { BatchReader } from '../table/batchReader.ts';
import { tableWith } from '../table/storeCapability.ts';
import { notifyQueue } from '../workers/notifyQueue.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { mailMessage, mailTiming } from './mailMessage.ts';
import { createMails, mailIdOf, type MailStore, readMailConfig } from './mailStore.ts';
import { findPerson, parseEventContent } from './rules/eventMailContent.ts';
import type { MailSubject, OwnerSubject } from './rules/mailRecord.ts';
import { isEventMailed } from './rules/provider.ts';

interface CreateMailsDeps {
  readonly mails: Pick<MailStore, 'create'>;
  readonly queue: QueueSender;
  readonly timing: Timing;
  readonly clock: () => number;
}

export type MailFanOutDeps = CreateMailsDeps & AudienceDeps;

/**
 * Each mail is stored before its queue message is sent: an event that is consumed again creates no second mail, and the
 * sweep replaces a message that cannot be sent.
 */
export function fanOutMails(deps: MailFanOutDeps): (log: Log) => EventConsumer {
  const { table, clock, queue } = deps;
  return (log) => {
    const configOf = readOnce((tenant) => readMailConfig(BatchReader.of(table), tenant, clock()));
    const concerns: EventConsumer['concerns'] = async ({ tenant, event }) =>
      isEventMailed(await configOf(tenant), event);
    const consume: EventConsumer['consume'] = async (event) => {
      const { tenant, eventId, payload } = event;
      const { audience, data } = payload;
      if (!audience || !(await concerns(event))) return;
      const userIds = recipientsOf(audience, 'email', await readRecipientRules(deps, tenant, event));
      const users = await findUsers(table, tenant, userIds);
      const content = parseEventContent(data);
      const reachable = userIds.filter(
        (userId, index) => mailAddressOf(users[index], findPerson(content, userId)) !== undefined,
      );
      const messages = await storeMails(
        deps,
        tenant,
        reachable.map((userId) => ({
          mailId: mailIdOf([tenant, eventId, userId]),
          about: { kind: 'event', eventId, event: event.event, userId },
        })),
      );
      await notifyQueue(queue, messages, log);
    };
    return { concerns, consume };
  };
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
  { ...creation, table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']) },
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
