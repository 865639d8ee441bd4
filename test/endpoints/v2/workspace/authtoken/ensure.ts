import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

export const cases: EndpointCases = { prepare: async () => {}, data: () => ({}) };
