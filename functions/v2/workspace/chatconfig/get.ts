import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { ChatConfigEntity } from '../../../../lib/chat/chatConfig.ts';
import { toChatConfigResponse } from '../../../../lib/chat/rules/chatConfig.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(ChatConfigEntity, secretBox).get,
    path: '/v2/workspace/chatconfig/get',
    summary: 'Get the chat configuration',
    description:
      'The bot token and the webhook URL are masked. Before the first change, the answer has the defaults. To change it, call `/v2/workspace/chatconfig/update`.',
    message: 'Chat configuration retrieved successfully.',
    impact: 'customers cannot see their Slack settings',
    cost: { calls: 1, roundTrips: 1, readUnits: 1, writeUnits: 0 },
  },
  async ({ caller, deps }) => ({ data: toChatConfigResponse(await deps.config.getOrInitial(caller.tenant)) }),
);

export const handler = toLambda(endpoint);
