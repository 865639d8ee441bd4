import { building, type Capability } from '../app/capability.ts';
import { type SecretBox, secretBox } from '../crypto/secretBox.ts';
import { ApiKeyEntity, WorkspaceApiKeyEntity, WorkspaceEntity } from '../workspaces/entities.ts';
import { mapSecret } from '../workspaces/configs/configStore.ts';
import { EmailConfigEntity } from '../workspaces/configs/emailConfig.ts';
import type { Stored } from '../table/entity.ts';
import { EventEntity, EventPayloadEntity } from '../events/outbox.ts';
import { isPaused, MailPauseEntity } from './mailStore.ts';
import { openTable, type Table, itemOf } from '../table/table.ts';
import { profilesOf, type User, UserEntity } from '../directory/users.ts';
import type { EmailConfig } from '../workspaces/rules/emailConfig.ts';
import { incompleteActors, withActors } from '../events/rules/actors.ts';
import type { Audience, EventPayload } from '../events/rules/payload.ts';
import { recipientsOf } from '../events/rules/recipients.ts';
import { mailAddressOf } from './rules/address.ts';
import { type EventMailContent, eventMailContent, personIn, saidIn } from './rules/content.ts';
import { isMailed } from './rules/headlines.ts';
import type { MailSubject } from './rules/mail.ts';
import { mailsEvent, providerOf } from './rules/provider.ts';
import { oneLine } from './rules/texts.ts';
import { eventMail, templateData } from './rendering/eventMail.ts';
import { ownerMail } from './rendering/ownerMail.ts';
import type { MailSender, OutgoingMail } from './senders/sender.ts';
import { type SendGridAccount, SendGridSender } from './senders/sendGrid.ts';
import { sesSender } from './senders/ses.ts';
import { unsubscribeLinks, type UnsubscribeLinks } from './unsubscribe.ts';
import { audienceRules, type OccurredEvent } from '../events/audience.ts';

/** A mail as it is to be sent now, and through whom; or why it is not to be sent. */
export type Composed =
  | {
      readonly mail: OutgoingMail;
      readonly through: MailSender;
      /** Of the tenant's configuration. */ readonly revision?: number;
    }
  | { readonly skip: string; /** Of a configuration that can send nothing. */ readonly revision?: number };

export interface MailContentsDeps {
  readonly table: Table;
  readonly box: SecretBox;
  readonly links: UnsubscribeLinks;
  /** The operator's SES; undefined where the operator has not said from which address. */
  readonly ses: MailSender | undefined;
  readonly sendGrid: (account: SendGridAccount) => MailSender;
  /** The time, epoch ms. */
  readonly clock: () => number;
}

const UNCONFIGURED = { skip: 'the operator has not set mailFrom' };

/** Makes mails of what is stored at the moment of sending: the event, who may see it, what the user wants, and the configuration. */
export class MailContents {
  readonly #deps: MailContentsDeps;

  constructor(deps: MailContentsDeps) {
    this.#deps = deps;
  }

  async compose(tenant: string, mailId: string, about: MailSubject): Promise<Composed> {
    return about.kind === 'event' ? this.#ofEvent(tenant, mailId, about) : this.#toOwner(tenant, mailId, about);
  }

  async #ofEvent(
    tenant: string,
    mailId: string,
    { eventId, userId }: Extract<MailSubject, { kind: 'event' }>,
  ): Promise<Composed> {
    const { table, clock } = this.#deps;
    const [stored, text, config, pause, user] = await table.batchGet(
      itemOf(EventEntity, { tenant, eventId }),
      itemOf(EventPayloadEntity, { tenant, eventId }),
      itemOf(EmailConfigEntity, { tenant }),
      itemOf(MailPauseEntity, { tenant }),
      itemOf(UserEntity, { tenant, userId }),
    );
    if (!stored || !text) return { skip: 'the event is gone' };
    const { event: type, organizationId } = stored;
    if (!config || !isMailed(type) || !mailsEvent(config, type))
      return { skip: 'events of this type are not mailed any more' };
    if (isPaused(pause, config, clock())) return { skip: 'e-mail pauses: the provider refuses the key or the sender' };
    const payload = JSON.parse(text.payload) as EventPayload;
    if (organizationId === undefined) return { skip: 'not for this user any more' };
    const [isRecipient, profiles] = await Promise.all([
      this.#isRecipient({ ...stored, tenant, payload }, userId),
      readActors(table, tenant, payload),
    ]);
    if (!isRecipient) return { skip: 'not for this user any more' };
    const said = saidIn(withActors(payload, profiles).data);
    const person = personIn(said, userId);
    const to = mailAddressOf(user, person);
    if (to === undefined) return { skip: 'no address' };
    const through = await this.#senderOf(tenant, config);
    if ('skip' in through) return through;

    const content = eventMailContent(type, said, userId);
    const unsubscribeLink = await this.#deps.links.linkFor({ tenant, organizationId, userId });
    const { fromCompany, fromEmail } = config.emailServiceConfig;
    const [company, toName] = [oneLine(fromCompany, 60), oneLine(user?.name ?? person.name, 60)];
    const id = templateOf(config, content);
    return {
      through: through.sender,
      revision: config._r,
      mail: {
        ...eventMail(content, { to, unsubscribeLink }),
        mailId,
        toName,
        sender: { name: company, address: fromEmail || undefined },
        ...(id !== '' && {
          template: { id, data: templateData(type, content, { recipientName: toName, company, unsubscribeLink }) },
        }),
      },
    };
  }

  /** Whether a user is one of those who are told of an event, as things are now. */
  async #isRecipient(event: OccurredEvent, userId: string): Promise<boolean> {
    const { audience } = event.payload;
    if (!audience) return false;
    const only = (userIds: readonly string[]) => userIds.filter((one) => one === userId);
    const alone: Audience = { ...audience, addressed: only(audience.addressed), following: only(audience.following) };
    const rules = await audienceRules(this.#deps, event.tenant, {
      ...event,
      payload: { ...event.payload, audience: alone },
    });
    return recipientsOf(alone, 'email', rules).includes(userId);
  }

  async #senderOf(
    tenant: string,
    config: Stored<EmailConfig>,
  ): Promise<{ readonly sender: MailSender } | Extract<Composed, { skip: string }>> {
    const { ses, box, sendGrid } = this.#deps;
    if (providerOf(config) === 'ses') return ses ? { sender: ses } : UNCONFIGURED;
    const {
      emailServiceConfig: { apiKey, fromEmail, fromCompany },
    } = await mapSecret('open', EmailConfigEntity, box, tenant, config);
    if (apiKey === '' || fromEmail === '')
      return { skip: 'SendGrid needs an apiKey and a fromEmail', revision: config._r };
    return { sender: sendGrid({ apiKey, from: { email: fromEmail, name: oneLine(fromCompany, 60) } }) };
  }

  async #toOwner(tenant: string, mailId: string, about: Exclude<MailSubject, { kind: 'event' }>): Promise<Composed> {
    const { table, ses } = this.#deps;
    if (!ses) return UNCONFIGURED;
    const key = await table.get(ApiKeyEntity, { apiKey: tenant });
    if (!key) return { skip: 'the API key is gone' };
    const [workspace, listed] = await table.batchGet(
      itemOf(WorkspaceEntity, key),
      itemOf(WorkspaceApiKeyEntity, { workspaceId: key.workspaceId, apiKey: tenant }),
    );
    if (!workspace) return { skip: 'the workspace is gone' };
    return {
      through: ses,
      mail: {
        ...ownerMail(about, { to: workspace.owner.email, apiKeyName: oneLine(listed?.apiKeyName) ?? tenant }),
        mailId,
        sender: {},
      },
    };
  }
}

/** The stored profiles of the actor and authors that an event names without a name or e-mail address. One BatchGet, none when the event has them all. */
async function readActors(table: Table, tenant: string, payload: EventPayload): Promise<ReadonlyMap<string, User>> {
  return profilesOf(
    await table.getMany(
      UserEntity,
      incompleteActors(payload).map((userId) => ({ tenant, userId })),
    ),
  );
}

/** The customer's template for a mail at the provider: that for those mentioned, else that for comments; empty when there is none. */
function templateOf(
  { emailServiceConfig: { commentTemplateId, tagTemplateId } }: EmailConfig,
  { mentioned }: EventMailContent,
): string {
  return (mentioned && tagTemplateId) || commentTemplateId;
}

/** Make the mails that are to be sent. Whoever uses it may read the master key. */
export const mailContents: Capability<MailContents> = /* @__PURE__ */ building(
  [secretBox, unsubscribeLinks, sesSender],
  {
    grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query'] }],
    env: ['TABLE_NAME'],
    open: (env) =>
      new MailContents({
        table: openTable(env),
        box: secretBox.open(env),
        links: unsubscribeLinks.open(env),
        ses: sesSender.open(env),
        sendGrid: (account) => new SendGridSender(account),
        clock: Date.now,
      }),
  },
);
