import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

// The rules of the counts are tested in integration/notifications/unreadCounts.test.ts.
describeEndpoint('/v2/notifications/count/get', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    await send('/v2/notifications/add', {
      organizationId: 'acme',
      documentId: 'nda',
      notificationId: 'n',
      actionUser: { userId: 'ada', name: mark },
      notifyUsers: [{ userId: 'grace' }],
      displayHeadlineMessageTemplate: mark,
      displayBodyMessage: mark,
    });
  },
  data: () => ({ organizationId: 'acme', userId: 'grace' }),
  foreignData: [{ organizationId: 'acme', userId: 'grace' }],
});
