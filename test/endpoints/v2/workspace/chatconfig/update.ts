import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

export const cases: EndpointCases = {
  prepare: async (send, text) => {
    await send('/v2/workspace/chatconfig/update', { chatServiceConfig: { botToken: `xoxb-${text}` } });
  },
  data: (n) => ({ chatServiceConfig: { botToken: `xoxb-token-${n}` } }),
};
