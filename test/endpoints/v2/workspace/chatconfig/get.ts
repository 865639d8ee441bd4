import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

export const cases: EndpointCases = {
  prepare: async (send, text) => {
    const sent = { botToken: `xoxb-${text}`, channelWebhookUrl: `https://hooks.slack.com/services/${text}` };
    await send('/v2/workspace/chatconfig/update', { chatServiceConfig: sent });
  },
  data: () => ({}),
};
