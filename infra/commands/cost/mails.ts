import { prices } from '../../cost/prices.ts';
import { type DeliveryConsumption, type DeliveryCost, deliveryCost } from './deliveries.ts';

/**
 * What the mail or the message in Slack about one activity adds to the event of the activity: its equal share, if it is
 * about several.
 */
export interface MailConsumption extends DeliveryConsumption {
  readonly mails: number;
}

/**
 * For comments that mention one user, with events in batches of one. test/integration/mail/mailConsumption.test.ts
 * asserts these values. The ten activities of a burst are in one window. Slack has told the channel of the user before.
 */
export const mailConsumption = {
  alone: {
    label: 'activities that are mailed alone',
    consumed: { calls: 20, read: 25, written: 11, sqs: 3, postingRuns: 1, otherRuns: 0, posts: 0, mails: 1 },
  },
  unlimited: {
    label: 'activities that are mailed alone, without limits of mails',
    consumed: { calls: 17, read: 23, written: 7, sqs: 3, postingRuns: 1, otherRuns: 0, posts: 0, mails: 1 },
  },
  burst: {
    label: 'activities of a burst of ten that is one mail',
    consumed: {
      calls: 18.1,
      read: 23.7,
      written: 7.8,
      sqs: 0.6,
      postingRuns: 0.1,
      otherRuns: 0.1,
      posts: 0,
      mails: 0.1,
    },
  },
  directMessage: {
    label: 'activities with a direct message in Slack',
    consumed: { calls: 21, read: 26, written: 7, sqs: 3, postingRuns: 1, otherRuns: 0, posts: 1, mails: 0 },
  },
  channelPost: {
    label: 'activities with a post in a channel of Slack',
    consumed: { calls: 10, read: 10, written: 7, sqs: 3, postingRuns: 1, otherRuns: 0, posts: 1, mails: 0 },
  },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly consumed: MailConsumption }>>;

/** Returns dollars per million. `ses` is a part of `total`. */
export function mailCost({ mails, ...consumed }: MailConsumption): DeliveryCost & { readonly ses: number } {
  const cost = deliveryCost(consumed);
  const ses = mails * prices.mails;
  return { ...cost, ses, total: cost.total + ses };
}
