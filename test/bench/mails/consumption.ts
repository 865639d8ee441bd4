import type { MailConsumption, mailConsumption } from '../../../infra/commands/cost/mails.ts';
import { newCustomer } from '../../support/customer.ts';
import { numbers, STATES } from '../../support/numbers.ts';
import { startHttp } from '../../support/receivers.ts';
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
 * Measures what mails and messages in Slack about comments that mention a user add to their events. The table in memory
 * counts capacity units like DynamoDB, and time is simulated. The reads and writes of the commenting call do not count.
 * Takes about 2 s.
 */
export async function measureMailConsumption(): Promise<MeasuredMails> {
  const random = Math.random;
  const next = numbers(1);
  Math.random = () => next(STATES) / STATES;
  const world = await startMemoryWorld();
  const slack = await startSlack();
  process.env.SLACK_API_URL = slack.url;
  const botToken = 'xoxb-bench';

  const limited = startCloud(world, { recipient: '20', writer: '200' });
  const measure = (settings: Settings) => measureActivities(world, limited, slack, settings);
  const none = await measure({});
  const alone = await measure({ mails: true });
  const burst = await measure({ mails: true, notifications: { batchConfig } });
  const directMessage = await measure({ chat: { botToken } });
  const channelPost = await measure({ chat: { channelWebhookUrl: `${slack.url}/webhook` } });
  const withoutLimits = startCloud(world, { recipient: '0', writer: '0' });
  const unlimited = await measureActivities(world, withoutLimits, slack, { mails: true });

  await Promise.all([world.stop(), slack.stop()]);
  Math.random = random;
  if (limited.failures + withoutLimits.failures > 0) throw new Error('Messages failed');
  return mapped({ alone, unlimited, burst, directMessage, channelPost }, (all) => perOne(all, none));
}

type World = Awaited<ReturnType<typeof startMemoryWorld>>;
type Slack = Awaited<ReturnType<typeof startSlack>>;

/** Settings of a customer who has in-app notifications. */
interface Settings {
  readonly mails?: boolean;
  readonly notifications?: object;
  readonly chat?: object;
}

/** Its workers read the limits when they start. */
function startCloud({ table }: World, limits: { readonly recipient: string; readonly writer: string }): Cloud {
  process.env.MAILS_PER_RECIPIENT_PER_HOUR = limits.recipient;
  process.env.MAILS_PER_WRITER_PER_HOUR = limits.writer;
  const now = Date.now();
  const cloud = new Cloud();
  cloud.stopClock();
  cloud.advanceTo(now);
  table.onInsert = cloud.insert;
  return cloud;
}

/** Starts a server that accepts all messages, as methods of Slack's API and as a webhook of a channel. */
async function startSlack() {
  let messages = 0;
  let calls = 0;
  const server = await startHttp((request, response) => {
    calls++;
    const isWebhook = request.url === '/webhook';
    if (isWebhook || request.url === '/chat.postMessage') messages++;
    const answer = { ok: true, user: { id: 'U1' }, channel: { id: 'D1' }, ts: String(messages) };
    response.end(isWebhook ? 'ok' : JSON.stringify(answer));
  });
  return { url: server.url, stop: server.stop, messages: () => messages, calls: () => calls };
}

/** Returns the consumption of all activities of one document together. */
async function measureActivities(
  { table, mails }: World,
  cloud: Cloud,
  slack: Slack,
  settings: Settings,
): Promise<MailConsumption> {
  const customer = await newCustomer();
  const comment = {
    annotationId: 'thread',
    commentData: [{ commentText: 'Is this right?', from: ada, taggedUserContacts: [grace], triggerNotification: true }],
  };
  await customer.addDocuments(['nda']);
  await customer.addUsers([ada, grace], nda);
  await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
  await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: settings.mails ?? false });
  if (settings.chat)
    await customer.ok('/v2/workspace/chatconfig/update', { useChatService: true, chatServiceConfig: settings.chat });
  // The first comment also makes the service read secrets, begin hours of limits, and look up the user in Slack.
  await customer.ok('/v2/commentannotations/add', { ...nda, commentAnnotations: [comment] });
  await cloud.drain();
  if (settings.notifications)
    await customer.ok('/v2/workspace/notificationconfig/update', { notificationServiceConfig: settings.notifications });

  const sent = () => mails.length + slack.messages();
  const before = { mails: mails.length, calls: slack.calls() };
  let [postingRuns, otherRuns] = [0, 0];
  cloud.sqsRequests = 0;
  cloud.onRun = async (run) => {
    const sentBefore = sent();
    const answer = await run();
    if (sent() > sentBefore) postingRuns++;
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
    await customer.ok('/v2/commentannotations/comments/add', { ...nda, ...comment });
    await work(() => cloud.drain());
    cloud.advanceTo(Date.now() + SECONDS_BETWEEN * SECOND);
  }
  await work(async () => {
    while (cloud.nextMessageAt < Infinity) {
      cloud.advanceTo(cloud.nextMessageAt);
      await cloud.drain();
    }
  });
  const [posts, ownMails] = [slack.calls() - before.calls, mails.length - before.mails];
  return { ...sum, sqs: cloud.sqsRequests, postingRuns, otherRuns, posts, mails: ownMails };
}

function perOne(all: MailConsumption, none: MailConsumption): MailConsumption {
  return mapped(none, (_value, name) => (all[name] - none[name]) / ACTIVITIES);
}

function mapped<K extends string, V, R>(values: Readonly<Record<K, V>>, change: (value: V, key: K) => R): Record<K, R> {
  const entries = Object.entries(values) as [K, V][];
  return Object.fromEntries(entries.map(([key, value]) => [key, change(value, key)])) as Record<K, R>;
}
