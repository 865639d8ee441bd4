import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

describeEndpoint('/v2/workspace/chatconfig/get', {
  prepare: async (send, mark) => {
    const sent = { botToken: `xoxb-${mark}`, channelWebhookUrl: `https://hooks.slack.com/services/${mark}` };
    await send('/v2/workspace/chatconfig/update', { chatServiceConfig: sent });
  },
  data: () => ({}),
  foreignData: [{}],
});
