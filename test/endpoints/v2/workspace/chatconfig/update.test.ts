import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

describeEndpoint('/v2/workspace/chatconfig/update', {
  prepare: async (send, text) => {
    await send('/v2/workspace/chatconfig/update', { chatServiceConfig: { botToken: `xoxb-${text}` } });
  },
  data: (n) => ({ chatServiceConfig: { botToken: `xoxb-token-${n}` } }),
});
