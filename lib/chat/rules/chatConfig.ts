import * as z from 'zod';
import { defaultEmailTriggers } from '../../events/rules/catalogue.ts';
import { ChatTriggerMap } from '../../events/rules/triggers.ts';
import { type AddressPolicy, isAllowedHost } from '../../net/addressPolicy.ts';
import { MAX_URL_CHARACTERS, parseHttpUrl } from '../../net/httpUrl.ts';
import { invalid } from '../../shared/errors.ts';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { maskKey } from '../../workspaces/rules/apiKeyConfig.ts';
import { type Change, merge } from '../../workspaces/rules/mergeConfig.ts';

const providers = ['slack'] as const;
const WEBHOOK_HOST = 'hooks.slack.com';

const texts = {
  useChatService:
    'Whether events are sent to Slack. By default false. The first `true` sets the default triggers: comments and huddles, except suggestions.',
  chatServiceConfig: 'The Slack app, and which events are sent.',
  provider: 'The chat service. Only `slack`.',
  botToken:
    'The bot token of your Slack app, with the scopes `chat:write`, `im:write` and `users:read.email`: it sends direct messages to users, whom it finds by their e-mail addresses. Stored encrypted. Without it, users get none.',
  channelWebhookUrl: `The incoming webhook of a Slack channel, \`https://${WEBHOOK_HOST}/...\`: the channel gets the events of threads that everybody may see. Stored encrypted. Without it, no channel gets events.`,
  triggers: 'Which events are sent. A trigger that was never set is off.',
} as const;

const masked = ' Here masked: `****` and the last four characters, or empty if there is none.';

/** Both secrets are encrypted in the table, and masked in answers. */
export const ChatConfig = /* @__PURE__ */ defineNamedSchema('ChatConfig', () =>
  z
    .object({
      useChatService: z.boolean().describe(texts.useChatService),
      chatServiceConfig: z
        .object({
          provider: z.enum(providers).describe(texts.provider),
          botToken: z.string().describe(texts.botToken + masked),
          channelWebhookUrl: z.string().describe(texts.channelWebhookUrl + masked),
          triggers: z
            .record(z.string(), z.boolean())
            .optional()
            .describe('Whether events are sent, by type. Absent until an update enables chat or sends triggers.'),
        })
        .describe(texts.chatServiceConfig),
    })
    .describe('Whether and how events are sent to Slack.'),
);
export type ChatConfig = z.output<typeof ChatConfig>;

const BotToken = /* @__PURE__ */ defineSchema(() =>
  z
    .string()
    .max(512)
    .check(
      z.refine((text) => text === '' || /^(xoxe\.)?xoxb-[\w-]+$/.test(text), {
        error: 'must be the bot token of a Slack app, which begins with xoxb-, or empty',
      }),
    ),
);

const ChatServiceConfigInput = /* @__PURE__ */ defineNamedSchema('ChatServiceConfigInput', () =>
  z
    .object({
      provider: optional(z.enum(providers)).describe(texts.provider),
      botToken: optional(BotToken).describe(texts.botToken),
      channelWebhookUrl: optional(z.string().max(MAX_URL_CHARACTERS)).describe(texts.channelWebhookUrl),
      triggers: optional(ChatTriggerMap).describe(texts.triggers),
    })
    .describe('The fields of the chat configuration to change. An empty text removes a value.'),
);

export const ChatConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    useChatService: optional(z.boolean()).describe(texts.useChatService),
    chatServiceConfig: optional(ChatServiceConfigInput).describe(texts.chatServiceConfig),
  }),
);

export const initialChatConfig: ChatConfig = {
  useChatService: false,
  chatServiceConfig: { provider: 'slack', botToken: '', channelWebhookUrl: '' },
};

/** The first `useChatService: true` sets the default triggers. Fields of the request take precedence. */
export function changeChatConfig(stored: ChatConfig = initialChatConfig, sent: Change<ChatConfig>): ChatConfig {
  const setsDefaults =
    sent.useChatService === true && Object.keys(stored.chatServiceConfig.triggers ?? {}).length === 0;
  const defaults = { chatServiceConfig: { triggers: defaultEmailTriggers } };
  return merge(setsDefaults ? merge(stored, defaults) : stored, sent);
}

/** Throws INVALID_ARGUMENT. A loopback URL may have any port and no TLS, where `policy` allows it. */
export function requireChannelUrl({ chatServiceConfig }: Change<ChatConfig>, policy: AddressPolicy): void {
  const text = chatServiceConfig?.channelWebhookUrl;
  if (!text || isChannelUrl(text, policy)) return;
  throw invalid({
    path: ['chatServiceConfig', 'channelWebhookUrl'],
    code: 'invalid_url',
    message: `chatServiceConfig.channelWebhookUrl must be the URL of an incoming webhook, https://${WEBHOOK_HOST}/..., or empty`,
  });
}

function isChannelUrl(text: string, policy: AddressPolicy): boolean {
  const url = parseHttpUrl(text);
  if (!url || url.username || url.password) return false;
  if (policy.allowLoopback && !isAllowedHost(url.hostname) && isAllowedHost(url.hostname, policy)) return true;
  return url.protocol === 'https:' && url.hostname === WEBHOOK_HOST && url.port === '' && url.pathname !== '/';
}

export function toChatConfigResponse({ chatServiceConfig, ...config }: ChatConfig): ChatConfig {
  const { botToken, channelWebhookUrl } = chatServiceConfig;
  return {
    ...config,
    chatServiceConfig: {
      ...chatServiceConfig,
      botToken: botToken && maskKey(botToken),
      channelWebhookUrl: channelWebhookUrl && maskKey(channelWebhookUrl),
    },
  };
}
