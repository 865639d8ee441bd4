import { type Capability, combine } from '../app/capability.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import type { Invitation } from '../invitations/rules.ts';
import type { Log } from '../observability/log.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { WriteOp } from '../table/table.ts';
import { notifyQueue } from '../workers/notifyQueue.ts';
import type { QueueMessage } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { mailMessage, mailTiming } from './mailMessage.ts';
import { mailIdOf, planMail, readMailConfig } from './mailStore.ts';
import type { InvitationSubject } from './rules/mailRecord.ts';

export interface InvitationMail {
  readonly ops: readonly WriteOp[];
  readonly messages: readonly QueueMessage[];
}

interface InvitationMails {
  /**
   * Undefined if the API key does not mail now. Otherwise returns the function that plans a mail, to be stored with its
   * invitation.
   */
  planner(
    tenant: string,
    organizationId: string,
    now: number,
  ): Promise<((scope: OrganizationScope, invitation: Invitation) => InvitationMail) | undefined>;
  send(mail: InvitationMail, log: Log): Promise<void>;
}

export const invitationMails: Capability<InvitationMails> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem', 'PutItem']), queue: sendTo.mail, timing: mailTiming },
  ({ table, queue, timing }): InvitationMails => ({
    async planner(tenant, organizationId, now) {
      const config = await readMailConfig(table, tenant, now);
      if (!config?.useEmailService) return undefined;
      return ({ organizationKey }, { type, resourceKey, recipient }) => {
        const subject = { organizationId, organizationKey, type, resourceKey, recipient };
        const about: InvitationSubject = { kind: 'invitation', ...subject };
        const mailId = mailIdOf([tenant, about.kind, organizationKey, type, resourceKey, recipient, now]);
        const { mail, op } = planMail(tenant, { mailId, about }, now, timing);
        return { ops: [op], messages: mailMessage(mail, now) };
      };
    },
    send: ({ messages }, log) => notifyQueue(queue, messages, log),
  }),
);
