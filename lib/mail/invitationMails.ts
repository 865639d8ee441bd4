import { type Capability, combine } from '../app/capability.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import type { InvitationMails } from '../invitations/invitationStore.ts';
import type { Invitation } from '../invitations/rules.ts';
import type { Log } from '../observability/log.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { WriteOp } from '../table/table.ts';
import { notifyQueue } from '../workers/notifyQueue.ts';
import type { QueueMessage } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { mailMessage, mailTiming } from './mailMessage.ts';
import { MailEntity, mailIdOf, planMail, readMailConfig } from './mailStore.ts';
import type { InvitationSubject } from './rules/mailRecord.ts';

export interface InvitationMail {
  readonly ops: readonly WriteOp[];
  readonly messages: readonly QueueMessage[];
}

interface SendInvitations {
  /** Undefined if the API key does not mail now. */
  open(tenant: string, organizationId: string, now: number): Promise<InvitationMails<InvitationMail> | undefined>;
  send(mail: InvitationMail, log: Log): Promise<void>;
}

export const invitationMails: Capability<SendInvitations> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'PutItem']), queue: sendTo.mail, timing: mailTiming },
  ({ table, queue, timing }): SendInvitations => ({
    async open(tenant, organizationId, now) {
      const config = await readMailConfig(table, tenant, now);
      if (!config?.useEmailService) return undefined;
      return {
        newMail(scope, invitation) {
          const { organizationKey } = scope;
          const { type, resourceKey, recipient } = invitation;
          const subject = { organizationId, organizationKey, type, resourceKey, recipient };
          const about: InvitationSubject = { kind: 'invitation', ...subject };
          const { mail, op } = planMail(tenant, { mailId: mailIdAt(scope, invitation), about }, now, timing);
          return { ops: [op], messages: mailMessage(mail, now) };
        },
        async isUnsent(scope, invitation) {
          const mail = await table.get(MailEntity, { tenant, mailId: mailIdAt(scope, invitation) });
          return mail?.status === 'SKIPPED' || mail?.status === 'FAILED';
        },
      };
    },
    send: ({ messages }, log) => notifyQueue(queue, messages, log),
  }),
);

function mailIdAt(
  { tenant, organizationKey }: OrganizationScope,
  { type, resourceKey, recipient, mailedAt = 0 }: Invitation,
): string {
  return mailIdOf([tenant, 'invitation', organizationKey, type, resourceKey, recipient, mailedAt]);
}
