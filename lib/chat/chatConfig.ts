import { defineConfig } from '../workspaces/configs/configStore.ts';
import { ChatConfig, initialChatConfig } from './rules/chatConfig.ts';

const secret = (field: string, purpose: string) => ({ group: 'chatServiceConfig', field, purpose, id: 'chatconfig' });

export const ChatConfigEntity = defineConfig(
  'ChatConfig',
  'The settings of chat: triggers, with the encrypted bot token and webhook URL of Slack',
  {
    schema: ChatConfig,
    initial: initialChatConfig,
    secrets: [secret('botToken', 'chatBotToken'), secret('channelWebhookUrl', 'chatChannelUrl')],
  },
);
