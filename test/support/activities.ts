import { beforeEach } from '@jest/globals';
import type { Customer } from './customer.ts';
import { times } from './times.ts';

/** Returns an activity in the form that requests have. */
export const activity = (fields: object = {}) => ({
  featureType: 'comment' as const,
  actionType: 'comment.add',
  actionUser: { userId: 'ada', name: 'Ada', email: 'ada@example.com' },
  ...fields,
});

/** Returns activities in the form that requests have. */
export const manyActivities = (count: number, fields: (index: number) => object) =>
  times(count, (index) => activity(fields(index)));

/** Turns a customer's activity logs on. */
export const enableActivities = (customer: Customer, config: object = { isEnabled: true, immutable: false }) =>
  customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: config });

/** Turns the activity logs of each test's customer on. Returns functions that call endpoints of activities. */
export function activityCalls(customer: Customer) {
  beforeEach(() => enableActivities(customer));
  const get = (filter: object = {}): Promise<any[]> =>
    customer.ok('/v2/activities/get', { organizationId: 'acme', ...filter });
  return {
    add: (sent: object[], document: object = { documentId: 'nda' }) =>
      customer.untyped('/v2/activities/add', { organizationId: 'acme', ...document, activities: sent }),
    get,
    idsOf: async (filter: object = {}) => (await get(filter)).map(({ id }) => id),
  };
}
