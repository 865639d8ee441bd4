import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

describeEndpoint('/v2/workspace/chatconfig/update', {
  prepare: async (send, mark) => {
    await send('/v2/workspace/chatconfig/update', { chatServiceConfig: { botToken: `xoxb-${mark}` } });
  },
  data: (n) => ({ chatServiceConfig: { botToken: `xoxb-token-${n}` } }),
  foreignData: [{ useChatService: true }, { chatServiceConfig: { botToken: '' } }],
});
