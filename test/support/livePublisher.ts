import { beforeEach } from '@jest/globals';
import type { ChangedItem } from '../../lib/app/worker.ts';
import { liveHints } from '../../lib/kinds/liveHints.ts';
import { ChannelPublisher } from '../../lib/live/channelPublisher.ts';
import { type LivePorts, liveStores } from '../../lib/live/livePorts.ts';
import { publishChanges, publishChangesCapability } from '../../lib/live/publishChanges.ts';
import { ChannelNames } from '../../lib/live/rules/channels.ts';
import type { DocumentKeys } from '../../lib/live/rules/hints.ts';
import { Table } from '../../lib/table/table.ts';
import type { AcmeWorld } from './acmeWorld.ts';
import { nda } from './content.ts';
import { Invocation, type Trial } from './crashes.ts';
import { TABLE_NAME } from './engine.ts';
import { restartFunctions } from './functionHandlers.ts';
import { asDocumentClient, type Command } from './leanClient.ts';
import { requirePermission, roleOf } from './permissions.ts';
import { newUser } from './userTokens.ts';
import { recordingMeasures, silentLog } from './workers.ts';

const MAX_RUNS = 12;
const runPublisher = roleOf('publishLive', [publishChangesCapability]);
const names = new ChannelNames(Buffer.alloc(32, 7));

/** An event that the simulated push service received. */
interface Published {
  readonly channel: string;
  readonly event: Record<string, any>;
}

interface PublishOptions {
  readonly trial?: Trial;
  /** The time of the publisher's clock. By default it is the real time. */
  readonly now?: number;
  readonly publisher?: ChannelPublisher;
}

/** Publishes changes of the document `nda` to a simulated push service. `restartFunctions` runs before each test. */
export function livePublisher({ engine, customer, itemsOf }: AcmeWorld) {
  const published: Published[] = [];
  let document: DocumentKeys;
  let sequence = 0;
  let userKeys: ReadonlyMap<unknown, string> = new Map();

  const readUserKeys = async () => {
    userKeys = new Map((await itemsOf('User')).map(({ userId, internalId }) => [userId, internalId]));
  };

  beforeEach(async () => {
    restartFunctions();
    const [[organization], [stored]] = await Promise.all([itemsOf('Organization'), itemsOf('Document')]);
    document = {
      tenant: customer.apiKey,
      organizationKey: organization!.internalId,
      documentKey: stored!.internalId,
    };
    published.length = 0;
  });

  /** Opens the ports of the publisher in a simulated process. Each call through the ports can have a fault. */
  function portsOf(invocation: Invocation): LivePorts {
    const send = (command: Command) => invocation.call(command.constructor.name, () => engine.lean.send(command));
    const publish = (channel: string, events: readonly string[]) =>
      invocation.call('Publish', () => {
        requirePermission({ service: 'AppSync Events', operation: 'Publish', input: { channel } });
        published.push(...events.map((event) => ({ channel, event: JSON.parse(event) })));
        return Promise.resolve();
      });
    return {
      ...liveStores(new Table(asDocumentClient({ send }), TABLE_NAME)),
      keys: { names: () => Promise.resolve(names) },
      publisher: new ChannelPublisher({ publish }, () => Promise.resolve()),
      hints: liveHints,
    };
  }

  /** Runs the publisher until no record of the batch fails, as Lambda does. */
  async function publish(changes: readonly ChangedItem[], options: PublishOptions = {}): Promise<void> {
    const { trial, now, publisher } = options;
    const call = { clock: () => now ?? Date.now(), log: silentLog, measures: recordingMeasures() };
    let remaining = changes;
    for (let runs = 0; remaining.length > 0; runs++) {
      if (runs === (trial ? MAX_RUNS : 1)) throw new Error(`The batch failed ${runs} times`);
      const invocation = new Invocation(trial);
      const ports = { ...portsOf(invocation), ...(publisher && { publisher }) };
      const failed = await Promise.race([
        runPublisher(() => publishChanges(ports, remaining, call)),
        invocation.crashed,
      ]).catch(() => remaining.map(({ id }) => id));
      const first = remaining.findIndex(({ id }) => failed.includes(id));
      remaining = first < 0 ? [] : remaining.slice(first);
    }
    await readUserKeys();
  }

  /** Returns a change of a stored item, as the stream has it. */
  function changeOf(change: ChangedItem['change'], item: Record<string, any>): ChangedItem {
    const { PK, SK } = item as { PK: string; SK: string };
    const images = change === 'remove' ? { item: undefined, before: () => item } : { item };
    return { id: String(++sequence), stream: 'stream', change, key: { PK, SK }, ...images, at: Date.now() };
  }

  return {
    published,
    publish,
    changeOf,
    /** The keys of the document `nda`. */
    document: () => document,
    /** Returns the stored items of these types as changes, type by type. */
    async changesOf(change: ChangedItem['change'], ...types: string[]): Promise<ChangedItem[]> {
      const items = await Promise.all(types.map((type) => itemsOf(type)));
      return items.flat().map((item) => changeOf(change, item));
    },
    /** Returns the first edit of an editor with its content in base64, as the stream has it. */
    async editOf(): Promise<ChangedItem> {
      const [item] = await itemsOf('EditorUpdate');
      return changeOf('insert', { ...item, packed: Buffer.from(item!.packed as Uint8Array).toString('base64') });
    },
    /** Creates a user token with grants of these resources, and connects with it. */
    async connect(userId: string, resources: object[] = []) {
      const user = await newUser(customer, userId, resources);
      const answer = await user.call('/v2/live/connect', nda);
      await readUserKeys();
      return answer;
    },
    channelsOf: (epoch = 1, keys = document) => names.ofDocument({ ...keys, epoch }),
    channelOf: (epoch = 1) => names.ofDocument({ ...document, epoch }).document,
    userChannel: (userId: string, tokenRevocations = 0) =>
      names.ofUser({ tenant: document.tenant, userKey: userKeys.get(userId) ?? '', tokenRevocations }),
    eventsOn: (channel: string) => published.filter((each) => each.channel === channel).map(({ event }) => event),
    clear() {
      published.length = 0;
    },
  };
}
