import { building, type Capability } from '../app/capability.ts';
import { EmailConfigEntity } from '../workspaces/configs/emailConfig.ts';
import { isPaused, MailPauseEntity, mailIdOf, makeMails, type MailStore } from './mailStore.ts';
import { openTable, itemOf } from '../table/table.ts';
import { UserEntity } from '../directory/users.ts';
import type { Timing } from '../webhooks/rules/schedule.ts';
import type { EmailConfig } from '../workspaces/rules/emailConfig.ts';
import { recipientsOf } from '../events/rules/recipients.ts';
import { mailAddressOf } from './rules/address.ts';
import { personIn, saidIn } from './rules/content.ts';
import type { MailSubject } from './rules/mail.ts';
import { mailsEvent } from './rules/provider.ts';
import { sendTo } from '../workers/queues.ts';
import type { QueueSender } from '../workers/sender.ts';
import { type AudienceDeps, audienceRules, type Consumer } from '../events/audience.ts';
import type { WarningDay } from '../webhooks/rules/autoDisable.ts';
import { mailTiming, messageAboutMail } from './mailMessage.ts';

interface MakeDeps {
  readonly mails: Pick<MailStore, 'make'>;
  /** The queue of mails. */
  readonly queue: QueueSender;
  readonly timing: Timing;
  /** The time, epoch ms. */
  readonly clock: () => number;
}

export type MailFanOutDeps = MakeDeps & AudienceDeps;

/**
 * Makes the mails of events: one for each recipient whom settings, visibility and access leave (design 6) and who has an address. Each is
 * written before its message is sent; once more for the same event changes nothing. What it gives is for one batch: a tenant's configuration
 * is read once for it.
 */
export function fanOutMails(deps: MailFanOutDeps): () => Consumer {
  const { table, clock } = deps;
  const configOf = async (tenant: string): Promise<EmailConfig | undefined> => {
    const [config, pause] = await table.batchGet(
      itemOf(EmailConfigEntity, { tenant }),
      itemOf(MailPauseEntity, { tenant }),
    );
    return config && !isPaused(pause, config, clock()) ? config : undefined;
  };
  return () => {
    const configs = new Map<string, Promise<EmailConfig | undefined>>();
    return async (event) => {
      const {
        tenant,
        eventId,
        payload: { audience, data },
      } = event;
      if (!audience) return;
      if (!configs.has(tenant)) configs.set(tenant, configOf(tenant));
      if (!mailsEvent(await configs.get(tenant), event.event)) return;
      const userIds = recipientsOf(audience, 'email', await audienceRules(deps, tenant, event));
      const users = await table.getMany(
        UserEntity,
        userIds.map((userId) => ({ tenant, userId })),
      );
      const said = saidIn(data);
      const reachable = userIds.filter(
        (userId, index) => mailAddressOf(users[index], personIn(said, userId)) !== undefined,
      );
      await make(
        deps,
        tenant,
        reachable.map((userId) => ({
          mailId: mailIdOf([tenant, eventId, userId]),
          about: { kind: 'event', eventId, event: event.event, userId },
        })),
      );
    };
  };
}

async function make(
  { mails, queue, timing, clock }: MakeDeps,
  tenant: string,
  what: readonly { mailId: string; about: MailSubject }[],
): Promise<void> {
  const made = await mails.make(tenant, what, clock(), timing);
  const now = clock();
  await queue.send(made.flatMap((mail) => messageAboutMail(mail, now)));
}

/** What the owner of a workspace is told of an endpoint that fails: that it will be disabled, or that it was. */
export interface EndpointTrouble {
  readonly endpointId: string;
  readonly url: string;
  /** After how many days of failures it is told; or that the endpoint is disabled now. */
  readonly stage: WarningDay | 'disabled';
  /** The first failure that no success followed, epoch ms. */
  readonly failingSince: number;
  readonly now: number;
}

/** Tells the owner of a workspace; once, however often it is called for the same endpoint, stage and failure. */
export type TellOwner = (tenant: string, trouble: EndpointTrouble) => Promise<void>;

/** What the owner of a workspace is told by mail. */
export type OwnerNotice = Exclude<MailSubject, { kind: 'event' }>;

/** Tells the owner of a workspace something; once for the same `occasion`, however often it is called within 30 days. */
export type NotifyOwner = (
  tenant: string,
  notice: OwnerNotice,
  occasion: readonly (string | number)[],
) => Promise<void>;

/** Has the owner mailed, whether events are mailed or not. */
export function ownerNotice(deps: MakeDeps): NotifyOwner {
  return (tenant, about, occasion) =>
    make(deps, tenant, [{ mailId: mailIdOf([tenant, about.kind, ...occasion]), about }]);
}

/** Make the mails of events. */
export const mailFanOut: Capability<() => Consumer> = /* @__PURE__ */ building([makeMails, sendTo.mail, mailTiming], {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query'] }],
  env: ['TABLE_NAME'],
  open: (env) =>
    fanOutMails({
      table: openTable(env),
      clock: Date.now,
      mails: makeMails.open(env),
      queue: sendTo.mail.open(env),
      timing: mailTiming.open(env),
    }),
});

/** Have the owners of workspaces mailed. */
export const notifyOwners: Capability<NotifyOwner> = /* @__PURE__ */ building([makeMails, sendTo.mail, mailTiming], {
  grants: [],
  env: [],
  open: (env) =>
    ownerNotice({
      clock: Date.now,
      mails: makeMails.open(env),
      queue: sendTo.mail.open(env),
      timing: mailTiming.open(env),
    }),
});

/** Tell owners of endpoints that fail: once for each stage of a failure. */
export const tellOwners: Capability<TellOwner> = /* @__PURE__ */ building([notifyOwners], {
  grants: [],
  env: [],
  open: (env) => {
    const notify = notifyOwners.open(env);
    return (tenant, { endpointId, url, stage, failingSince }) =>
      notify(tenant, { kind: 'endpointTrouble', endpointId, url, stage, failingSince }, [
        endpointId,
        stage,
        failingSince,
      ]);
  },
});
