import { type Capability, combine } from '../app/capability.ts';
import { completeActors, incompleteActors } from '../content/rules/actors.ts';
import { type SecretBox, secretBox } from '../crypto/secretBox.ts';
import { OrganizationEntity } from '../directory/organizations.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { findUsers, type MaybeUser, profilesOf, UserEntity } from '../directory/users.ts';
import { EventEntity, payloadItem, smallPayloadOf } from '../events/outbox.ts';
import type { MailedType } from '../events/rules/catalogue.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../http/entities.ts';
import { InvitationEntity } from '../invitations/entities.ts';
import { existingInvitations } from '../invitations/existingInvitations.ts';
import { statusOf } from '../invitations/rules.ts';
import type { OccurredEvent } from '../notifications/audience.ts';
import { distinct } from '../shared/collections.ts';
import { mailAddressOf } from '../shared/mailAddress.ts';
import type { Stored } from '../table/entity.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type Table } from '../table/table.ts';
import { AllowedDomainsEntity } from '../workspaces/allowedDomains.ts';
import { mapSecrets } from '../workspaces/configs/configStore.ts';
import { EmailConfigEntity } from '../workspaces/configs/emailConfig.ts';
import { WorkspaceApiKeyEntity } from '../workspaces/entities.ts';
import type { EmailConfig } from '../workspaces/rules/emailConfig.ts';
import { withCurrentComments } from './currentComments.ts';
import { isPaused, MailPauseEntity } from './mailStore.ts';
import { digestMail, digestTemplateData } from './rendering/digestMail.ts';
import { eventMail, templateData } from './rendering/eventMail.ts';
import { invitationMail } from './rendering/invitationMail.ts';
import { ownerMail } from './rendering/ownerMail.ts';
import { type DigestContent, digestContent, type DigestEntry, MAX_ENTRIES } from './rules/digestContent.ts';
import { type EventMailContent, eventMailContent, findPerson, parseEventContent } from './rules/eventMailContent.ts';
import { isMailed } from './rules/headlines.ts';
import { invitationMailContent } from './rules/invitationMailContent.ts';
import type { DigestSubject, InvitationSubject, MailResult, MailSubject, OwnerSubject } from './rules/mailRecord.ts';
import { oneLine } from './rules/plainText.ts';
import { isEventMailed, providerOf } from './rules/provider.ts';
import type { Mail, MailSender, OutgoingMail } from './senders/sender.ts';
import { type SendGridAccount, SendGridSender } from './senders/sendGrid.ts';
import { sesSender } from './senders/ses.ts';
import { type UnsubscribeLinks, unsubscribeLinks } from './unsubscribeLinks.ts';
import { checkEntries, EVENT_EXPIRED, isRecipient, NO_RECIPIENT, NOT_SENT } from './waiting/entryChecks.ts';

interface Skipped {
  readonly skip: string;
  /** Set if no mail can be sent with this revision of the e-mail configuration. */
  readonly revision?: number;
}

export type ComposedMail = { readonly send: () => Promise<MailResult>; readonly revision?: number } | Skipped;

export interface MailComposerDeps {
  readonly table: Table;
  readonly box: SecretBox;
  readonly links: UnsubscribeLinks;
  readonly ses: MailSender | undefined;
  readonly sendGrid: (account: SendGridAccount) => MailSender;
  readonly clock: () => number;
}

const PAUSED = { skip: 'e-mail is paused: the provider refuses the key or the sender' };
const RESOURCE_DELETED = { skip: 'the organization, document or folder does not exist any more' };
const UNCONFIGURED = { skip: 'the operator has not set mailFrom' };

/**
 * Composes mails at the moment of sending, from the event, access rights, settings and configuration as they are now.
 */
export class MailComposer {
  readonly #deps: MailComposerDeps;

  constructor(deps: MailComposerDeps) {
    this.#deps = deps;
  }

  async compose(tenant: string, mailId: string, about: MailSubject): Promise<ComposedMail> {
    if (about.kind === 'event') return this.#composeEventMail(tenant, mailId, about);
    if (about.kind === 'digest') return this.#composeDigest(tenant, mailId, about);
    if (about.kind === 'invitation') return this.#composeInvitation(tenant, mailId, about);
    if (about.kind === 'channelPost') throw new Error('A channel post is not a mail');
    return this.#composeOwnerMail(tenant, mailId, about);
  }

  async #composeEventMail(
    tenant: string,
    mailId: string,
    { eventId, userId }: Extract<MailSubject, { kind: 'event' }>,
  ): Promise<ComposedMail> {
    const { table, clock } = this.#deps;
    const [stored, largePayload, config, pause, user] = await table.batchGet(
      itemOf(EventEntity, { tenant, eventId }),
      payloadItem({ tenant, eventId }),
      itemOf(EmailConfigEntity, { tenant }),
      itemOf(MailPauseEntity, { tenant }),
      itemOf(UserEntity, { tenant, userId }),
    );
    const payload = stored && (smallPayloadOf(stored) ?? largePayload);
    if (!stored || !payload) return { skip: EVENT_EXPIRED };
    const event = { ...stored, tenant, payload };
    if (!config || !isMailed(stored.event) || !isEventMailed(config, stored.event)) return { skip: NOT_SENT };
    if (isPaused(pause, config, clock())) return PAUSED;
    const { organizationId } = stored;
    if (organizationId === undefined || !(await isRecipient(this.#deps, event, userId, 'email')))
      return { skip: NO_RECIPIENT };
    return this.#composeForUser({ tenant, mailId, organizationId, userId, user, config }, [event]);
  }

  async #composeDigest(tenant: string, mailId: string, about: DigestSubject): Promise<ComposedMail> {
    const { table, clock } = this.#deps;
    const { organizationId, organizationKey, userId, eventIds, people } = about;
    const [config, pause, user] = await table.batchGet(
      itemOf(EmailConfigEntity, { tenant }),
      itemOf(MailPauseEntity, { tenant }),
      itemOf(UserEntity, { tenant, userId }),
    );
    if (!config) return { skip: NOT_SENT };
    if (isPaused(pause, config, clock())) return PAUSED;
    const of = { tenant, organizationKey, userId, channel: 'email' as const };
    const isSent = (event: string) => isMailed(event) && isEventMailed(config, event);
    const checked = await checkEntries(this.#deps, of, eventIds, { isSent, people, contents: MAX_ENTRIES });
    const events = checked.flatMap(({ event }) => event ?? []);
    if (events.length === 0) return { skip: distinct(checked.flatMap(({ reason }) => reason ?? [])).join(', ') };
    return this.#composeForUser({ tenant, mailId, organizationId, userId, user, config }, events);
  }

  async #composeForUser(
    { tenant, mailId, organizationId, userId, user, config }: MailToUser,
    events: readonly OccurredEvent[],
  ): Promise<ComposedMail> {
    const { table, links } = this.#deps;
    const { entries, people, single } = await readEntries(table, tenant, userId, events);
    const to = mailAddressOf(user, ...people);
    if (to === undefined) return { skip: 'the user has no e-mail address' };
    const sender = await this.#senderOf(tenant, config);
    if ('skip' in sender) return sender;

    const unsubscribeLink = await links.linkFor({ tenant, organizationId, userId });
    const from = senderNameOf(config);
    const recipientName = oneLine(user?.name ?? people.find(({ name }) => name)?.name, 60);
    const names = { recipientName, company: from.name, unsubscribeLink };
    const mail = single
      ? {
          ...eventMail(single.content, { to, unsubscribeLink }),
          ...templateWith(templateOf(config, single.content), () => templateData(single.event, single.content, names)),
        }
      : digestMailOf(digestContent(entries), config, { to, ...names });
    const outgoing: OutgoingMail = { ...mail, mailId, toName: recipientName, sender: from };
    return { send: () => sender.send(outgoing), revision: config._r };
  }

  async #composeInvitation(tenant: string, mailId: string, about: InvitationSubject): Promise<ComposedMail> {
    const { table, clock } = this.#deps;
    const { organizationId, organizationKey } = about;
    const [invitation, organization, config, pause, allowed] = await table.batchGet(
      itemOf(InvitationEntity, { tenant, ...about }),
      itemOf(OrganizationEntity, { tenant, organizationId }),
      itemOf(EmailConfigEntity, { tenant }),
      itemOf(MailPauseEntity, { tenant }),
      itemOf(AllowedDomainsEntity, { tenant }),
    );
    if (!invitation || statusOf(invitation, clock()) !== 'PENDING')
      return { skip: 'the invitation is not pending any more' };
    if (!config?.useEmailService) return { skip: 'e-mail is off' };
    if (isPaused(pause, config, clock())) return PAUSED;
    if (organization?.internalId !== organizationKey) return RESOURCE_DELETED;
    const [existing] = await existingInvitations(table, organizationScope(tenant, organization), [invitation]);
    if (!existing) return RESOURCE_DELETED;
    const sender = await this.#senderOf(tenant, config);
    if ('skip' in sender) return sender;
    const { email, invitedBy } = invitation;
    const [inviter] = invitedBy ? await findUsers(table, tenant, [invitedBy.clientUserId]) : [];
    const content = invitationMailContent(invitation, inviter?.name, allowed?.domains ?? []);
    const mail = { ...invitationMail(content, email), mailId, sender: senderNameOf(config) };
    return { send: () => sender.send(mail), revision: config._r };
  }

  async #senderOf(tenant: string, config: Stored<EmailConfig>): Promise<MailSender | Skipped> {
    const { ses, box, sendGrid } = this.#deps;
    if (providerOf(config) === 'ses') return ses ?? UNCONFIGURED;
    const { emailServiceConfig } = await mapSecrets('open', EmailConfigEntity, box, tenant, config);
    const { apiKey, fromEmail, fromCompany } = emailServiceConfig;
    if (apiKey === '' || fromEmail === '')
      return { skip: 'SendGrid needs an apiKey and a fromEmail', revision: config._r };
    return sendGrid({ apiKey, from: { email: fromEmail, name: oneLine(fromCompany, 60) } });
  }

  async #composeOwnerMail(tenant: string, mailId: string, about: OwnerSubject): Promise<ComposedMail> {
    const { table, ses } = this.#deps;
    if (!ses) return UNCONFIGURED;
    const key = await table.get(ApiKeyEntity, { apiKey: tenant });
    if (!key) return { skip: 'the API key does not exist any more' };
    const [workspace, apiKey] = await table.batchGet(
      itemOf(WorkspaceEntity, key),
      itemOf(WorkspaceApiKeyEntity, { workspaceId: key.workspaceId, apiKey: tenant }),
    );
    if (!workspace) return { skip: 'the workspace does not exist any more' };
    const addressee = { to: workspace.owner.email, apiKeyName: oneLine(apiKey?.apiKeyName) ?? tenant };
    const mail = { ...ownerMail(about, addressee), mailId, sender: {} };
    return { send: () => ses.send(mail) };
  }
}

interface TemplateNames {
  readonly recipientName: string | undefined;
  readonly company: string | undefined;
  readonly unsubscribeLink: string;
}

interface MailToUser {
  readonly tenant: string;
  readonly mailId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly user: Stored<MaybeUser> | undefined;
  readonly config: Stored<EmailConfig>;
}

function entryOf({ event, createdAt, documentId, payload }: OccurredEvent): DigestEntry {
  return { event, at: createdAt, documentId, annotationId: payload.audience?.thread?.annotationId };
}

/**
 * The entries of a digest with the contents of the oldest 30. `people` is what these say about the user. `single` is the
 * entry of the only event.
 */
export async function readEntries(table: Table, tenant: string, userId: string, events: readonly OccurredEvent[]) {
  const ordered = events.toSorted((a, b) => a.createdAt - b.createdAt);
  const contents = await readContents(table, tenant, ordered.slice(0, MAX_ENTRIES));
  const shown = contents.map(({ event, type, content, written }) => ({
    ...entryOf(event),
    content: eventMailContent(type, content, userId, written),
  }));
  return {
    entries: [...shown, ...ordered.slice(MAX_ENTRIES).map(entryOf)],
    people: contents.map(({ content }) => findPerson(content, userId)),
    single: events.length === 1 ? shown[0] : undefined,
  };
}

export async function readContents(table: Table, tenant: string, events: readonly OccurredEvent[]) {
  const actorIds = distinct(events.flatMap(({ payload }) => incompleteActors(payload)));
  const [current, actors] = await Promise.all([
    withCurrentComments(table, tenant, events),
    findUsers(table, tenant, actorIds),
  ]);
  const profiles = profilesOf(actors);
  return current.map(({ event, written }) => ({
    event,
    type: event.event as MailedType,
    content: parseEventContent(completeActors(event.payload, profiles).data),
    written,
  }));
}

function digestMailOf(
  content: DigestContent,
  { emailServiceConfig: { digestTemplateId } }: EmailConfig,
  { to, ...names }: { to: string } & TemplateNames,
): Mail & Pick<OutgoingMail, 'template'> {
  const { unsubscribeLink } = names;
  return {
    ...digestMail(content, { to, unsubscribeLink }),
    ...templateWith(digestTemplateId, () => digestTemplateData(content, names)),
  };
}

function templateWith(id: string, dataOf: () => Readonly<Record<string, unknown>>): Pick<OutgoingMail, 'template'> {
  return id === '' ? {} : { template: { id, data: dataOf() } };
}

function senderNameOf({ emailServiceConfig: { fromCompany, fromEmail } }: EmailConfig): OutgoingMail['sender'] {
  return { name: oneLine(fromCompany, 60), address: fromEmail || undefined };
}

/** The id of the customer's template at the provider. Mentions have their own. Empty if there is none. */
function templateOf(
  { emailServiceConfig: { commentTemplateId, tagTemplateId } }: EmailConfig,
  { mentioned }: EventMailContent,
): string {
  return (mentioned && tagTemplateId) || commentTemplateId;
}

export const mailComposer: Capability<MailComposer> = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']),
    box: secretBox,
    links: unsubscribeLinks,
    ses: sesSender,
  },
  (parts) => new MailComposer({ ...parts, sendGrid: (account) => new SendGridSender(account), clock: Date.now }),
);
