import type { EndpointCases } from '../../../support/describeEndpoint.ts';

const REQUESTS = 8;
let ids: string[] = [];

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send) => {
    for (let n = 0; n < REQUESTS; n++)
      await send('/v2/workspace/domains/request', {
        organizationId: 'acme',
        clientDocumentId: 'nda',
        domain: `partner-${n}.example.com`,
      });
    const { body } = await send('/v2/workspace/requested/domains/get', {});
    ids = body.result.data.map(({ id }: { id: string }) => id);
  },
  data: (n) => ({ action: 'accept', id: ids[n], clientDocId: 'nda' }),
};
