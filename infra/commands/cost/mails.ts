import { prices } from '../../cost/prices.ts';
import { type DeliveryConsumption, type DeliveryCost, deliveryCost } from './deliveries.ts';

/**
 * What the mail about one activity adds to the event of the activity. An activity whose mail is about several has its
 * equal share.
 */
export interface MailConsumption extends Pick<DeliveryConsumption, 'calls' | 'read' | 'written' | 'sqs' | 'otherRuns'> {
  readonly mailRuns: number;
  readonly mails: number;
}

/**
 * For comments that mention one user, with events in batches of one. test/integration/mail/mailConsumption.test.ts
 * asserts these values. The ten activities of a burst are in one window.
 */
export const mailConsumption = {
  alone: {
    label: 'activities that are mailed alone',
    consumed: { calls: 19, read: 24, written: 11, sqs: 3, mailRuns: 1, otherRuns: 0, mails: 1 },
  },
  unlimited: {
    label: 'activities that are mailed alone, without limits of mails',
    consumed: { calls: 16, read: 22, written: 7, sqs: 3, mailRuns: 1, otherRuns: 0, mails: 1 },
  },
  burst: {
    label: 'activities of a burst of ten that is one mail',
    consumed: { calls: 18.8, read: 23.1, written: 8.2, sqs: 0.6, mailRuns: 0.1, otherRuns: 0.1, mails: 0.1 },
  },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly consumed: MailConsumption }>>;

/** Returns dollars per million. `ses` is a part of `total`. */
export function mailCost({ mails, mailRuns, ...consumed }: MailConsumption): DeliveryCost & { readonly ses: number } {
  const cost = deliveryCost({ ...consumed, postingRuns: mailRuns, posts: 0 });
  const ses = mails * prices.mails;
  return { ...cost, ses, total: cost.total + ses };
}
