/**
 * Measures the way from events to mails if each user of a large document gets a digest at the end of a window. Each
 * stage is compared with the bare writes of the same items. Limits of mails are off. Takes about 90 s.
 */
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { WaitingEntryEntity } from '../../lib/mail/waiting/entryStore.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import { documentClients, operationOf } from '../../lib/table/documentClient.ts';
import { newCustomer } from '../support/customer.ts';
import { itemsByKey } from '../support/items.ts';
import { asDocumentClient, type Command, LeanClient } from '../support/leanClient.ts';
import { replaceIds } from '../support/replaceIds.ts';
import { times } from '../support/times.ts';
import { Cloud } from './deliveries/cloud.ts';
import { observed, startEnvironment } from './deliveries/world.ts';
import { putAll } from './putAll.ts';
import { printTable, ratio, timed } from './report.ts';

const USERS = 10_000;
/** A comment involves at most fifty users, its author included. */
const USERS_PER_COMMENT = 49;
const COMMENTS_PER_USER = 2;
const COMMENTERS_AT_A_TIME = 4;
const WINDOW_SECONDS = 600;
const BARE_AT_A_TIME = 16;
const JOBS_AT_A_TIME = 8;
const MAIL_RUNS_AT_A_TIME = 4;
/** The time limits of the stages and of the bare writes of a stage, in milliseconds. */
const [FAN_OUT, COLLECT, SEND, BARE] = [25_000, 20_000, 20_000, 8_000];

const nda = { organizationId: 'acme', documentId: 'nda' };
const engine = await startEnvironment({});
Object.assign(process.env, { MAILS_PER_RECIPIENT_PER_HOUR: '0', MAILS_PER_WRITER_PER_HOUR: '0' });
const cloud = new Cloud();
let mails = 0;
SESv2Client.prototype.send = (() => Promise.resolve({ MessageId: String(++mails) })) as never;

/** The writes of the stage that runs. */
let written: Command[] = [];
let entries = 0;
const client = new LeanClient();
documentClients.open = () =>
  observed(
    asDocumentClient({
      async send(command: Command) {
        const answer = await client.send(command);
        if (!/^(GetItem|BatchGetItem|Query)$/.test(operationOf(command))) written.push(command);
        return answer;
      },
    }),
    (item) => {
      if (item._t === WaitingEntryEntity.type) entries++;
      cloud.insert(item);
    },
  );

const customer = await newCustomer();
await customer.addDocuments(['nda']);
await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
await customer.ok('/v2/workspace/notificationconfig/update', {
  useNotificationService: true,
  notificationServiceConfig: {
    batchConfig: { document: { isEnabled: true, batchWindowSeconds: WINDOW_SECONDS, maxActivities: 50 } },
  },
});
await addUsers();
cloud.stopClock();

const stages = [await fanOut(), await collect(), await send()];
client.destroy();
await engine.stop();
printTable(
  `From events to mails on the local engine: ${USERS} users in one document, a window of ${WINDOW_SECONDS} s, ${COMMENTS_PER_USER} comments for each user, limits of mails off
Each comment mentions ${USERS_PER_COMMENT} users. A stage ends after ${FAN_OUT / 1000} or ${SEND / 1000} s. Amazon SES answers at once. The bare writes are the same items, ${BARE_AT_A_TIME} writes at a time.`,
  ['stage', 'unit', 'units', 'writes per unit', 'units per second', 'bare writes', 'time of bare writes'],
  stages.map(({ stage, unit, units, writes, perSecond, barePerSecond }) => [
    stage,
    unit,
    units,
    writes.toFixed(1),
    Math.round(perSecond),
    Math.round(barePerSecond),
    ratio(barePerSecond, perSecond),
  ]),
);
if (cloud.failures > 0) console.log(`\n${cloud.failures} messages failed`);
process.exit();

function userIdOf(number: number): string {
  return `user-${String(number).padStart(5, '0')}`;
}

/** Copies the items of one user that handlers have created. */
async function addUsers(): Promise<void> {
  const user = userIdOf(0);
  const before = await itemsByKey(engine, customer);
  await customer.addUsers([{ userId: user, name: 'A name', email: `${user}@example.com` }], nda);
  const after = await itemsByKey(engine, customer);
  const ofUser = [...after].flatMap(([key, item]) => (before.has(key) ? [] : [item]));
  const copies = times(USERS - 1, (index) =>
    ofUser.map((item) => replaceIds(item, { [user]: userIdOf(index + 1) })),
  ).flat();
  await putAll(client, copies, BARE_AT_A_TIME);
}

/** Comments, and writes the entries of the mentioned users. The time of the commenting calls does not count. */
async function fanOut() {
  const groups = times(Math.ceil(USERS / USERS_PER_COMMENT), (index) =>
    times(Math.min(USERS_PER_COMMENT, USERS - index * USERS_PER_COMMENT), (user) =>
      userIdOf(index * USERS_PER_COMMENT + user),
    ),
  );
  const comment = async (userIds: readonly string[]) => {
    const commentData = [
      {
        commentText: 'Is this right?',
        from: { userId: 'ada', name: 'Ada', email: 'ada@example.com' },
        taggedUserContacts: userIds.map((userId) => ({ userId })),
        triggerNotification: true,
      },
    ];
    const commentAnnotations = times(COMMENTS_PER_USER, () => ({ commentData }));
    await customer.ok('/v2/commentannotations/add', { ...nda, commentAnnotations });
  };
  let milliseconds = 0;
  const ofStage: Command[] = [];
  for (let index = 0; index < groups.length && milliseconds < FAN_OUT; index += COMMENTERS_AT_A_TIME) {
    await Promise.all(groups.slice(index, index + COMMENTERS_AT_A_TIME).map(comment));
    written = ofStage;
    milliseconds += await timed(() => cloud.fanOut());
    written = [];
  }
  return compare('fan-out of events', 'entry', entries, milliseconds, ofStage);
}

/** Runs the jobs of the users whose windows have ended. They store the digests. */
async function collect() {
  cloud.advanceTo(Date.now() + (WINDOW_SECONDS + 1) * 1_000);
  written = [];
  const milliseconds = await timed(() => cloud.drainQueue('jobs', JOBS_AT_A_TIME, performance.now() + COLLECT));
  return compare('jobs of users', 'digest', cloud.busy('mail'), milliseconds, written);
}

/** Composes and sends the digests. */
async function send() {
  written = [];
  const milliseconds = await timed(() => cloud.drainQueue('mail', MAIL_RUNS_AT_A_TIME, performance.now() + SEND));
  return compare('sending', 'mail', mails, milliseconds, written);
}

/** Compares the stage with its writes as items of another customer, without conditions. */
async function compare(stage: string, unit: string, units: number, milliseconds: number, commands: readonly Command[]) {
  const bare = commands.map(({ constructor: { name }, input }) => ({
    constructor: { name },
    input: replaceIds(withoutConditions(input), { [customer.apiKey]: customer.apiKey.replace(/.{4}$/, 'bare') }),
  }));
  let count = 0;
  const bareMilliseconds = await timed(async () => {
    const until = performance.now() + BARE;
    await inParallel(bare, BARE_AT_A_TIME, async (command) => {
      if (performance.now() > until) return;
      await client.send(command);
      count++;
    });
  });
  const writes = commands.length / units;
  const perSecond = (units / milliseconds) * 1_000;
  return { stage, unit, units, writes, perSecond, barePerSecond: (count / writes / bareMilliseconds) * 1_000 };
}

/** Of puts and deletes, which have expressions only in their conditions. */
function withoutConditions({ TableName, Item, Key, RequestItems, TransactItems }: Command['input']): Command['input'] {
  if (RequestItems) return { RequestItems };
  if (!TransactItems) return { TableName, ...(Item && { Item }), ...(Key && { Key }) };
  return {
    TransactItems: TransactItems.flatMap(({ Put, Delete }: Command['input']) => [
      ...(Put ? [{ Put: withoutConditions(Put) }] : []),
      ...(Delete ? [{ Delete: withoutConditions(Delete) }] : []),
    ]),
  };
}
