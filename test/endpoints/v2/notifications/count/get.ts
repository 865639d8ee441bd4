import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

// The rules of the counts are tested in integration/notifications/unreadCounts.test.ts.
export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    await send('/v2/notifications/add', {
      organizationId: 'acme',
      documentId: 'nda',
      notificationId: 'n',
      actionUser: { userId: 'ada', name: text },
      notifyUsers: [{ userId: 'grace' }],
      displayHeadlineMessageTemplate: text,
      displayBodyMessage: text,
    });
  },
  data: () => ({ organizationId: 'acme', userId: 'grace' }),
};
