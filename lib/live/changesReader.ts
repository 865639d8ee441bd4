import type { Capability } from '../app/capability.ts';
import { AccessChecks } from '../content/accessChecks.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import type { Organization } from '../directory/organizations.ts';
import { NotificationReader } from '../notifications/notificationReader.ts';
import { distinct, slicesOf } from '../shared/collections.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { findAnnouncedRecords, type NamedDocument } from './announcedRecords.ts';
import { LiveChannelEntity } from './entities.ts';
import { HintLog } from './hintLog.ts';
import { type Changes, changesSince, MAX_CHANGES } from './rules/changes.ts';
import {
  type EmptyHint,
  HIDDEN,
  type Hint,
  type HintCatalogue,
  type UserHint,
  type VersionedHint,
} from './rules/hints.ts';

const NOTIFICATIONS_AT_ONCE = 50;

export class ChangesReader {
  readonly #table: Table;
  readonly #log: HintLog;

  constructor(table: Table) {
    this.#table = table;
    this.#log = new HintLog(table);
  }

  /** Also returns the newest hints of the user's own channel. Hints that the user may not read now are empty. */
  async changes(
    { organization, document: { documentId }, scope }: DocumentContext,
    user: Viewer & { readonly userKey: string },
    after: number,
    { now, announced }: { readonly now: number; readonly announced: HintCatalogue['announced'] },
  ): Promise<
    Omit<Changes, 'hints'> & {
      readonly hints: (VersionedHint | EmptyHint<VersionedHint>)[];
      readonly userHints: (UserHint | EmptyHint<UserHint>)[];
    }
  > {
    const [channel, logged, stored] = await Promise.all([
      this.#table.get(LiveChannelEntity, scope),
      this.#log.logged(scope, after),
      this.#log.hintsOfUser({ tenant: scope.tenant, ...user }),
    ]);
    const version = Math.max(channel?.version ?? 0, logged.at(-1)?.version ?? 0);
    const isWhole = logged.length <= MAX_CHANGES;
    const hints = logged.map(({ position: _position, ...hint }): VersionedHint => hint);
    const changes = changesSince(after, isWhole ? version : (hints.at(-1)?.version ?? version), hints);
    const { organizationId } = organization;
    const named = { scope, organizationId, documentId };
    const ofDocument = stored.filter((each) => each.documentKey === scope.documentKey).map(({ hint }) => hint);
    const [readable, notifications] = await Promise.all([
      this.#readableHints(named, user, [...changes.hints, ...ofDocument], { now, announced }),
      this.#readableNotifications(
        { tenant: scope.tenant, organization, viewer: user, now },
        stored.flatMap(({ organizationKey, hint }) =>
          organizationKey === scope.organizationKey && 'ids' in hint ? (hint.ids.notificationId ?? []) : [],
        ),
      ),
    ]);
    const isReadable = ({
      hint,
      organizationKey,
    }: {
      readonly hint: UserHint;
      readonly organizationKey?: string | undefined;
    }) => {
      const notificationId = 'ids' in hint ? hint.ids.notificationId : undefined;
      const kind = announced[hint.type];
      if (kind === 'formerNotification' || (kind === 'notification' && notificationId === undefined))
        return organizationKey === scope.organizationKey;
      if (kind === 'notification') return notifications.has(notificationId);
      return announced[hint.type] === 'user' || readable.has(hint);
    };
    return {
      ...changes,
      hints: changes.hints.map((hint) =>
        readable.has(hint) ? hint : { type: HIDDEN, at: hint.at, version: hint.version },
      ),
      userHints: stored.map((each) =>
        isReadable(each) ? each.hint : { type: HIDDEN, at: each.hint.at, id: each.hint.id },
      ),
    };
  }

  async #readableHints(
    document: NamedDocument,
    { userId, access }: Viewer,
    hints: readonly Hint[],
    { now, announced }: { readonly now: number; readonly announced: HintCatalogue['announced'] },
  ): Promise<ReadonlySet<Hint>> {
    const { scope, organizationId } = document;
    const records = await findAnnouncedRecords(this.#table, document, hints, announced);
    const organization = { organizationId, internalId: scope.organizationKey };
    const checks = new AccessChecks(this.#table, { scope, organization, now }, userId, access);
    const isVisible = await checks.canSee(records.map((thread) => ({ thread })));
    return new Set(hints.filter((_hint, index) => records[index] && isVisible[index]));
  }

  async #readableNotifications(
    {
      tenant,
      organization,
      viewer,
      now,
    }: { readonly tenant: string; readonly organization: Organization; readonly viewer: Viewer; readonly now: number },
    ids: readonly (string | number)[],
  ): Promise<ReadonlySet<unknown>> {
    const reader = new NotificationReader(this.#table);
    const readable = new Set<unknown>();
    for (const notificationIds of slicesOf(distinct(ids.map(String)), NOTIFICATIONS_AT_ONCE)) {
      const filter = { userId: viewer.userId, notificationIds };
      const read = (after: string | undefined) =>
        reader.list(tenant, organization, filter, { limit: notificationIds.length, after, now, viewer });
      for await (const { values } of pages(read)) for (const { id } of values) readable.add(id);
    }
    return readable;
  }
}

export const readChanges: Capability<Pick<ChangesReader, 'changes'>> = /* @__PURE__ */ storeCapability(ChangesReader, [
  'GetItem',
  'BatchGetItem',
  'Query',
]);
