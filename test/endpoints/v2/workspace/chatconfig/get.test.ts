import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

describeEndpoint('/v2/workspace/chatconfig/get', {
  prepare: async (send, text) => {
    const sent = { botToken: `xoxb-${text}`, channelWebhookUrl: `https://hooks.slack.com/services/${text}` };
    await send('/v2/workspace/chatconfig/update', { chatServiceConfig: sent });
  },
  data: () => ({}),
});
