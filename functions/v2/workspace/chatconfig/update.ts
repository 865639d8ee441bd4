import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { ChatConfigEntity } from '../../../../lib/chat/chatConfig.ts';
import {
  changeChatConfig,
  ChatConfigChange,
  requireChannelUrl,
  toChatConfigResponse,
} from '../../../../lib/chat/rules/chatConfig.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../lib/net/addressPolicy.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';

const { update } = configEndpoints(ChatConfigEntity, secretBox);

export const endpoint = defineEndpoint(
  {
    ...update,
    path: '/v2/workspace/chatconfig/update',
    summary: 'Change the chat configuration. Enabling chat for the first time sets the default triggers',
    description:
      'Sent fields replace the stored ones at every depth, and others stay. An empty text removes a value. While chat is enabled, events whose trigger is on are sent to Slack: as direct messages to users who are mentioned or assigned or whose thread it is, if there is a `botToken`, and to the channel of `channelWebhookUrl`. Each user can get more or none: the level `slack` of `/v2/notifications/config/set`. The answer has the secrets masked.',
    input: ChatConfigChange.check(
      requireChange(
        Object.keys(ChatConfigChange.shape),
        'At least one of useChatService or chatServiceConfig must be provided.',
      ),
    ),
    message: 'Chat configuration updated successfully.',
    uses: { ...update.uses, addressPolicy },
    impact: 'customers cannot change which events are sent to Slack',
    example: {
      data: {
        chatServiceConfig: {
          botToken: 'xoxb-0000-0000-example-k3Fw',
          channelWebhookUrl: 'https://hooks.slack.com/services/T000/B000/example-w8Qz',
          triggers: { 'comment.add': true },
        },
      },
      result: {
        data: {
          useChatService: false,
          chatServiceConfig: {
            provider: 'slack',
            botToken: '****k3Fw',
            channelWebhookUrl: '****w8Qz',
            triggers: { 'comment.add': true },
          },
        },
      },
    },
    cost: { calls: 2, roundTrips: 2, readUnits: 1, writeUnits: 1 },
  },
  async ({ input, caller, deps }) => {
    requireChannelUrl(input, deps.addressPolicy);
    return { data: toChatConfigResponse(await deps.config.update(caller.tenant, input, changeChatConfig)) };
  },
);

export const handler = toLambda(endpoint);
