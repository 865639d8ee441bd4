import type { MailConsumption, mailConsumption } from '../../../infra/commands/cost/mails.ts';
import { newCustomer } from '../../support/customer.ts';
import { numbers, STATES } from '../../support/numbers.ts';
import { Cloud } from '../deliveries/cloud.ts';
import { startMemoryWorld } from '../deliveries/world.ts';

export type MeasuredMails = Readonly<Record<keyof typeof mailConsumption, MailConsumption>>;

const SECOND = 1_000;
const nda = { organizationId: 'acme', documentId: 'nda' };
const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
const grace = { userId: 'grace', name: 'Grace', email: 'grace@example.com' };
/** All activities of a burst are in one window. */
const ACTIVITIES = 10;
const SECONDS_BETWEEN = 50;
const WINDOW_SECONDS = 600;
const batchConfig = { document: { isEnabled: true, batchWindowSeconds: WINDOW_SECONDS, maxActivities: 50 } };

/**
 * Measures what the mails of comments that mention a user add to their events. The table in memory counts capacity
 * units like DynamoDB, and time is simulated. The reads and writes of the commenting call do not count. Takes about 2 s.
 */
export async function measureMailConsumption(): Promise<MeasuredMails> {
  const random = Math.random;
  const next = numbers(1);
  Math.random = () => next(STATES) / STATES;
  const world = await startMemoryWorld();
  const limited = await measureWith(world, { recipient: '20', writer: '200' });
  const unlimited = await measureWith(world, { recipient: '0', writer: '0' });
  await world.stop();
  Math.random = random;
  return { alone: limited.alone, unlimited: unlimited.alone, burst: limited.burst };
}

async function measureWith(
  { table, mails }: Awaited<ReturnType<typeof startMemoryWorld>>,
  limits: { readonly recipient: string; readonly writer: string },
): Promise<Pick<MeasuredMails, 'alone' | 'burst'>> {
  process.env.MAILS_PER_RECIPIENT_PER_HOUR = limits.recipient;
  process.env.MAILS_PER_WRITER_PER_HOUR = limits.writer;
  const now = Date.now();
  // Its workers read the limits when they start.
  const cloud = new Cloud();
  cloud.stopClock();
  cloud.advanceTo(now);
  table.onInsert = cloud.insert;

  /** Returns the consumption of all activities of one document together. */
  const measure = async (
    useEmailService: boolean,
    notificationServiceConfig: object = {},
  ): Promise<MailConsumption> => {
    const customer = await newCustomer();
    const comment = (annotationId: string) => ({
      annotationId,
      commentData: [
        { commentText: 'Is this right?', from: ada, taggedUserContacts: [grace], triggerNotification: true },
      ],
    });
    await customer.addDocuments(['nda']);
    await customer.addUsers([ada, grace], nda);
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
    await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
    // The first mail also reads secrets, and begins the hours of the limits.
    await customer.ok('/v2/commentannotations/add', { ...nda, commentAnnotations: [comment('thread')] });
    await cloud.drain();
    await customer.ok('/v2/workspace/emailconfig/update', { useEmailService });
    await customer.ok('/v2/workspace/notificationconfig/update', { notificationServiceConfig });

    let [mailRuns, otherRuns] = [0, 0];
    const mailsBefore = mails.length;
    cloud.sqsRequests = 0;
    cloud.onRun = async (run) => {
      const before = mails.length;
      const answer = await run();
      if (mails.length > before) mailRuns++;
      else otherRuns++;
      return answer;
    };
    const sum = { calls: 0, read: 0, written: 0 };
    const work = async (run: () => Promise<void>) => {
      const { calls, read, written } = await table.measure(run);
      sum.calls += calls;
      sum.read += read;
      sum.written += written;
    };
    for (let i = 0; i < ACTIVITIES; i++) {
      await customer.ok('/v2/commentannotations/comments/add', { ...nda, ...comment('thread') });
      await work(() => cloud.drain());
      cloud.advanceTo(Date.now() + SECONDS_BETWEEN * SECOND);
    }
    await work(async () => {
      while (cloud.nextMessageAt < Infinity) {
        cloud.advanceTo(cloud.nextMessageAt);
        await cloud.drain();
      }
    });
    return { ...sum, sqs: cloud.sqsRequests, mailRuns, otherRuns, mails: mails.length - mailsBefore };
  };

  const none = await measure(false);
  const [alone, burst] = [await measure(true), await measure(true, { batchConfig })];
  if (cloud.failures > 0) throw new Error(`${cloud.failures} messages failed`);
  const [perMail, perActivity] = [alone, burst].map((all) => perOne(all, none)) as [MailConsumption, MailConsumption];
  return { alone: perMail, burst: perActivity };
}

function perOne(all: MailConsumption, none: MailConsumption): MailConsumption {
  const names = Object.keys(none) as (keyof MailConsumption)[];
  return Object.fromEntries(
    names.map((name) => [name, (all[name] - none[name]) / ACTIVITIES]),
  ) as unknown as MailConsumption;
}
