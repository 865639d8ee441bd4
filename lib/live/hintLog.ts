import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, replace, type Table, upsert } from '../table/table.ts';
import {
  hintsAfter,
  type LiveChannel,
  LiveChannelEntity,
  LiveHintsEntity,
  type StoredChannel,
  UserHintEntity,
} from './entities.ts';
import { LOG_SECONDS, MAX_CHANGES } from './rules/changes.ts';
import type { DocumentKeys, Hint, UserHint, VersionedHint } from './rules/hints.ts';

const PAGE = 500;

export interface RecordedChange {
  readonly position: StreamPosition;
  readonly hint: Hint;
}

/**
 * Where a change is in the table's stream. Within a partition of the table, later changes have higher sequence numbers.
 */
export interface StreamPosition {
  readonly stream: string;
  readonly sequence: string;
  readonly partition: string;
}

type LoggedHint = VersionedHint & { readonly position: string };

export interface RecordedHints {
  readonly channel: StoredChannel;
  readonly hints: readonly { readonly hint: VersionedHint; readonly position: StreamPosition }[];
}

export class HintLog {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async activeChannels(documents: readonly DocumentKeys[], now: number): Promise<(StoredChannel | undefined)[]> {
    const channels = await this.#table.getMany(LiveChannelEntity, documents);
    return channels.map((channel) => (channel && channel.activeUntil > now ? channel : undefined));
  }

  /**
   * Records each change once. A repeated run returns the versions of the earlier run. Returns undefined if changes of
   * the document are no longer recorded (`activeUntil`). `positions` has all processed changes, also those without a
   * hint.
   */
  async record(
    document: DocumentKeys,
    changes: readonly RecordedChange[],
    positions: readonly StreamPosition[],
    now: number,
  ): Promise<RecordedHints | undefined> {
    return retryOnConflict(async (): Promise<RecordedHints | undefined | 'conflict'> => {
      const [channel] = await this.activeChannels([document], now);
      if (!channel) return undefined;
      const isRecorded = ({ position }: RecordedChange) => isUpTo(position, channel.marks[position.partition]);
      const [recorded, added] = [changes.filter(isRecorded), changes.filter((change) => !isRecorded(change))];
      const repeated = recorded.length > 0 ? await this.#repeat(document, channel, recorded) : [];
      if (added.length === 0) return { channel, hints: repeated };
      const hints = added.map(({ hint, position }, index) => ({
        hint: { ...hint, version: channel.version + 1 + index },
        position,
      }));
      const next = {
        ...channel,
        version: channel.version + hints.length,
        marks: { ...channel.marks, ...Object.fromEntries(positions.map((each) => [each.partition, markOf(each)])) },
      };
      const outcome = await this.#table.write([
        replace(LiveChannelEntity, { ...document, ...next }, channel._r),
        insert(LiveHintsEntity, {
          ...document,
          version: next.version,
          hints: JSON.stringify(hints.map(({ hint, position }) => ({ ...hint, position: markOf(position) }))),
          expiresAt: Math.ceil(now / 1000) + LOG_SECONDS,
        }),
      ]);
      if (outcome !== 'done') return 'conflict';
      return { channel: { ...next, _r: channel._r + 1 }, hints: [...repeated, ...hints] };
    });
  }

  async #repeat(document: DocumentKeys, channel: LiveChannel, changes: readonly RecordedChange[]) {
    const positions = new Map(changes.map(({ position }) => [markOf(position), position]));
    const logged = await this.logged(document, Math.max(0, channel.version - PAGE));
    return logged.flatMap(({ position: mark, ...hint }) => {
      const position = positions.get(mark);
      return position ? [{ hint, position }] : [];
    });
  }

  async logged(document: DocumentKeys, after: number): Promise<LoggedHint[]> {
    const logged: LoggedHint[] = [];
    const between = hintsAfter(after);
    for await (const { values } of pages((next) =>
      this.#table.query(LiveHintsEntity, document, { between, limit: PAGE, after: next }),
    )) {
      for (const { hints } of values)
        logged.push(...(JSON.parse(hints) as LoggedHint[]).filter(({ version }) => version > after));
      if (logged.length > MAX_CHANGES) break;
    }
    return logged;
  }

  async recordForUser(
    user: { readonly tenant: string; readonly userId: string; readonly userKey: string },
    about: Partial<Pick<DocumentKeys, 'organizationKey' | 'documentKey'>>,
    { hint, position }: { readonly hint: UserHint; readonly position: StreamPosition },
  ): Promise<void> {
    const { organizationKey, documentKey } = about;
    const stored = { at: hint.at, id: markOf(position), hint: JSON.stringify(hint), organizationKey, documentKey };
    await this.#table.write([upsert(UserHintEntity, { ...user, ...stored })]);
  }

  async hintsOfUser(user: { readonly tenant: string; readonly userId: string; readonly userKey: string }) {
    const { values } = await this.#table.query(UserHintEntity, user, { limit: MAX_CHANGES, descending: true });
    return values.reverse().map((stored) => ({ ...stored, hint: JSON.parse(stored.hint) as UserHint }));
  }
}

function markOf({ stream, sequence }: StreamPosition): string {
  return `${stream} ${sequence}`;
}

/** A restored table has a new stream, whose positions cannot be compared with old ones: returns false then. */
function isUpTo({ stream, sequence }: StreamPosition, mark: string | undefined): boolean {
  const [markedStream, markedSequence = '0'] = mark?.split(' ') ?? [];
  return markedStream === stream && BigInt(sequence) <= BigInt(markedSequence);
}
