import { type Capability, combine } from '../app/capability.ts';
import { isOpenToAll } from '../content/rules/threadAccess.ts';
import { type SecretBox, secretBox } from '../crypto/secretBox.ts';
import { DocumentReader } from '../directory/documents.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { UserEntity } from '../directory/users.ts';
import { type ComposedMail, readContents, readEntries } from '../mail/mailComposer.ts';
import { type NotifyOwner, notifyOwners, reachableRecipients } from '../mail/mailFanOut.ts';
import { digestContent, MAX_ENTRIES } from '../mail/rules/digestContent.ts';
import { eventFact, eventMailContent } from '../mail/rules/eventMailContent.ts';
import type {
  ChannelPostSubject,
  ChatPart,
  ChatSubject,
  DigestSubject,
  EventSubject,
  MailResult,
} from '../mail/rules/mailRecord.ts';
import {
  checkEntries,
  EVENT_EXPIRED,
  isRecipient,
  NO_RECIPIENT,
  NOT_SENT,
  readEvents,
} from '../mail/waiting/entryChecks.ts';
import { type OccurredEvent, readEventAccess, readEventLocation } from '../notifications/audience.ts';
import { distinct } from '../shared/collections.ts';
import { mailAddressOf } from '../shared/mailAddress.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { mapSecrets } from '../workspaces/configs/configStore.ts';
import { ChatConfigEntity } from './chatConfig.ts';
import {
  type ChatState,
  ChatUserEntity,
  forgetChannel,
  pauseChat,
  readChat,
  rememberChannel,
  rememberedChannel,
  sourceOfUser,
} from './chatStore.ts';
import { channelPost, digestMessage, directMessage } from './rendering/slackMessages.ts';
import { isForAllReaders, isTriggered, usableParts } from './rules/chatEvents.ts';
import { type SlackClient, slackClient, type SlackMessage } from './slackClient.ts';

export interface ChatComposerDeps {
  readonly table: Table;
  readonly box: SecretBox;
  readonly slack: SlackClient;
  readonly notifyOwner: NotifyOwner;
  readonly clock: () => number;
}

type Skipped = Extract<ComposedMail, { skip: string }>;

const OFF = { skip: 'chat is off, paused, or has no token for this' };
const NOT_FOR_ALL = { skip: 'only some readers of the document may see the thread' };
const NOT_IN_SLACK = { skip: 'nobody in Slack has the e-mail address of the user' };

/** Composes messages at the moment of sending, as `MailComposer` does. */
export class ChatComposer {
  readonly #deps: ChatComposerDeps;

  constructor(deps: ChatComposerDeps) {
    this.#deps = deps;
  }

  async compose(tenant: string, about: ChatSubject): Promise<ComposedMail> {
    const { table, clock } = this.#deps;
    const chat = await readChat(table, tenant, clock());
    const part = about.kind === 'channelPost' ? 'channel' : 'direct';
    if (!chat || !usableParts(chat.config, chat.paused).has(part)) return OFF;
    return about.kind === 'channelPost'
      ? this.#composePost(tenant, chat, about)
      : this.#composeDirectMessage(tenant, chat, about);
  }

  async #composeDirectMessage(
    tenant: string,
    chat: ChatState,
    about: EventSubject | DigestSubject,
  ): Promise<ComposedMail> {
    const { table } = this.#deps;
    const { userId } = about;
    const events = await this.#eventsFor(tenant, chat, about);
    if ('skip' in events) return events;
    const [{ entries, people, single }, user] = await Promise.all([
      readEntries(table, tenant, userId, events),
      table.get(UserEntity, { tenant, userId }),
    ]);
    const address = mailAddressOf(user, ...people);
    if (address === undefined) return { skip: 'the user has no e-mail address' };
    const message = single ? directMessage(single.content) : digestMessage(digestContent(entries));
    return this.#toUser(tenant, chat, { userId, address }, message);
  }

  async #eventsFor(
    tenant: string,
    { config }: ChatState,
    about: EventSubject | DigestSubject,
  ): Promise<readonly OccurredEvent[] | Skipped> {
    const { userId } = about;
    if (about.kind === 'digest') {
      const of = { tenant, organizationKey: about.organizationKey, userId, channel: 'slack' as const };
      const isSent = (event: string) => isTriggered(config, event);
      const checked = await checkEntries(this.#deps, of, about.eventIds, {
        isSent,
        people: about.people,
        contents: MAX_ENTRIES,
      });
      const events = checked.flatMap(({ event }) => event ?? []);
      return events.length > 0 ? events : { skip: distinct(checked.flatMap(({ reason }) => reason ?? [])).join(', ') };
    }
    const [event] = await readEvents(this.#deps.table, tenant, [about.eventId]);
    if (!event) return { skip: EVENT_EXPIRED };
    if (!isTriggered(config, event.event)) return { skip: NOT_SENT };
    const [mayReceive, reachable] = await Promise.all([
      isRecipient(this.#deps, event, userId, 'slack'),
      reachableRecipients(this.#deps.table, event, [userId]),
    ]);
    return mayReceive && reachable.length > 0 ? [event] : { skip: NO_RECIPIENT };
  }

  /** Looks the user up before the message is claimed: an unknown user is no failure. */
  async #toUser(
    tenant: string,
    { config }: ChatState,
    { userId, address }: { userId: string; address: string },
    message: SlackMessage,
  ): Promise<ComposedMail> {
    const { table, box, slack, clock } = this.#deps;
    const source = sourceOfUser(address, config);
    const stored = await table.get(ChatUserEntity, { tenant, userId });
    let known = rememberedChannel(stored, source, clock());
    const { chatServiceConfig } = await mapSecrets('open', ChatConfigEntity, box, tenant, config);
    const { botToken } = chatServiceConfig;
    if (!known) {
      const found = await slack.openDirectChannel(botToken, address);
      if (found !== 'unknown' && 'outcome' in found)
        return { send: () => this.#report(tenant, 'direct', config._r, found) };
      known = found === 'unknown' ? {} : found;
      await rememberChannel(table, tenant, { userId, source, ...known }, clock());
    }
    const { channelId } = known;
    if (channelId === undefined) return NOT_IN_SLACK;
    return {
      send: async () => {
        const result = await slack.post(botToken, channelId, message);
        if (result.outcome === 'failed' && !result.retry) await forgetChannel(table, tenant, userId, clock());
        return this.#report(tenant, 'direct', config._r, result);
      },
    };
  }

  async #composePost(tenant: string, chat: ChatState, { eventId }: ChannelPostSubject): Promise<ComposedMail> {
    const { table, box, slack } = this.#deps;
    const { config } = chat;
    const [event] = await readEvents(table, tenant, [eventId]);
    if (!event) return { skip: EVENT_EXPIRED };
    if (!isTriggered(config, event.event)) return { skip: NOT_SENT };
    const [location, access] = await Promise.all([readEventLocation(table, event), readEventAccess(table, event)]);
    if (!location || !access) return { skip: 'the thread or its document does not exist any more' };
    if (!isForAllReaders(access)) return NOT_FOR_ALL;
    const { organization, document } = location;
    const scope = organizationScope(tenant, organization);
    const [withFolder] = document ? await new DocumentReader(table).attachFolders(scope, [document]) : [];
    if (document && !withFolder) return { skip: 'the folder of the document does not exist any more' };
    const [content] = await readContents(table, tenant, [event]);
    if (!content) return { skip: EVENT_EXPIRED };
    const forNobody = eventMailContent(content.type, content.content, '', content.written);
    const isRestricted = !isOpenToAll({ document: withFolder });
    const message = channelPost(forNobody, isRestricted ? eventFact(content.type, content.content) : undefined);
    const { chatServiceConfig } = await mapSecrets('open', ChatConfigEntity, box, tenant, config);
    return {
      send: async () =>
        this.#report(
          tenant,
          'channel',
          config._r,
          await slack.postToWebhook(chatServiceConfig.channelWebhookUrl, message),
        ),
    };
  }

  /** Pauses the part if Slack refuses its credential. The owner gets one mail per revision of the configuration. */
  async #report(tenant: string, part: ChatPart, revision: number, result: MailResult): Promise<MailResult> {
    if (result.outcome !== 'denied') return result;
    const { table, notifyOwner, clock } = this.#deps;
    const { reason } = result;
    await pauseChat(table, tenant, { part, revision }, clock());
    await notifyOwner(tenant, { kind: 'chatFailure', part, reason }, [part, revision]);
    return result;
  }
}

export const chatComposer: Capability<ChatComposer> = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem']),
    box: secretBox,
    slack: slackClient,
    notifyOwner: notifyOwners,
  },
  (parts) => new ChatComposer({ ...parts, clock: Date.now }),
);
