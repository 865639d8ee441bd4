import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

describeEndpoint('/v2/workspace/authtoken/ensure', { prepare: async () => {}, data: () => ({}) });
