import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

let keys: { sourceApiKey: string; targetApiKey: string };

export const cases: EndpointCases = {
  prepare: async (send, apiKeyName) => {
    const { body } = await send('/v2/workspace/get', {});
    const ownerEmail = body.result.data.owner.email;
    const settings = { createAuthToken: true, type: 'testing', allowedDomains: ['app.example.com'] };
    await send('/v2/workspace/apikey/create', { ownerEmail, apiKeyName, ...settings });
    const { body: listed } = await send('/v2/workspace/apikeys/get', {});
    const [sourceApiKey, targetApiKey] = listed.result.data.map(({ id }: { id: string }) => id);
    keys = { sourceApiKey, targetApiKey };
  },
  data: () => keys,
};
