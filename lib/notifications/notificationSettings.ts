import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { accessTimeAfter, hasEnded } from '../directory/rules/access.ts';
import { findUsers, isExistingUser, usersOfResource } from '../directory/users.ts';
import {
  levelsFor,
  type NotificationChannel,
  notificationChannels,
  type NotificationLevel,
  type NotificationLevels,
  notificationLevels,
} from '../events/rules/recipients.ts';
import { definedFields } from '../shared/collections.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { keyPrefix } from '../table/keys.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, type QueryableEntity, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';

const Level = z.enum(notificationLevels).optional();

export const NotificationSettingsEntity = defineEntity({
  type: 'NotificationSettings',
  version: 1,
  scope: 'tenant',
  ownedBy: 'user',
  purpose: 'The notification levels of a user for inbox, e-mail and Slack, in the organization or in one document',
  schema: z.object({
    inbox: Level,
    email: Level,
    slack: Level,
    /** Epoch ms. */ setAt: z.number().optional(),
  }),
  pk: (of: OrganizationScope & { userId: string }) => organizationPartition(of, 'USER', of.userId),
  sk: (key: { documentKey?: string | undefined }) => [
    'SETTINGS',
    ...(key.documentKey === undefined ? [] : [key.documentKey]),
  ],
  indexes: {
    gsi2: {
      holds: 'notification settings for an organization or document, by user',
      pk: ({ tenant, organizationKey, documentKey }: OrganizationScope & { documentKey?: string | undefined }) =>
        usersOfResource(tenant, documentKey ?? organizationKey),
      sk: ({ userId }) => [userId],
    },
  },
});

/** The document's internal id follows. It needs no escapes, so the rest of the key is the id. */
export const settingsPrefix = ['SETTINGS'];

/** Queries must use `settingsPrefix`, because the partition has other items too. */
export const settingsOfDocuments: QueryableEntity<
  NotificationLevels & { readonly documentKey: string; readonly setAt?: number | undefined },
  OrganizationScope & { readonly userId: string }
> = {
  partition: (of) => NotificationSettingsEntity.partition(of),
  fromItem(item, now) {
    const settings = NotificationSettingsEntity.fromItem(item, now);
    return settings && { ...settings, documentKey: String(item.SK).slice(keyPrefix(settingsPrefix).length) };
  },
};

export type EffectiveLevels = Record<NotificationChannel, NotificationLevel>;

/** The organization if `documentKey` is undefined. */
export interface SettingsScope {
  readonly documentKey?: string | undefined;
}

/** `folderKeys` has the internal ids of the folders above the document, nearest first. */
export interface WrittenScope extends SettingsScope {
  readonly folderKeys?: readonly string[] | undefined;
}

/**
 * For each channel, `set` has the level of the scope, or else of the organization. `effective` has `ALL` if neither is
 * set.
 */
export interface ScopedSettings {
  readonly set: NotificationLevels;
  readonly effective: EffectiveLevels;
}

export class NotificationSettingsReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** In the order of `scopes`. */
  async get(scope: OrganizationScope, userId: string, scopes: readonly SettingsScope[]): Promise<ScopedSettings[]> {
    const [organization, ...settingsOfScopes] = await this.#table.getMany(
      NotificationSettingsEntity,
      [{}, ...scopes].map((settings) => ({ ...scope, userId, ...settings })),
    );
    return settingsOfScopes.map((settings) => ({
      set: { ...organization, ...pickLevels(settings) },
      effective: levelsFor(organization, settings),
    }));
  }
}

export class NotificationSettingsWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * A channel that is not sent keeps its level. After a removal of a user, earlier levels do not count. Users and
   * scopes must be distinct. An unknown user fails in its own result only.
   */
  async set(
    scope: OrganizationScope,
    userIds: readonly string[],
    scopes: readonly WrittenScope[],
    sent: NotificationLevels,
    now: number,
  ): Promise<ItemOutcome[]> {
    const found = await findUsers(this.#table, scope.tenant, userIds);
    const users = found.map((user) => (isExistingUser(user) ? user : undefined));
    const items = userIds.flatMap((userId, index) =>
      users[index]
        ? scopes.map(({ documentKey, folderKeys = [] }) => {
            const within = [...(documentKey === undefined ? [] : [documentKey]), ...folderKeys, scope.organizationKey];
            return { userId, documentKey, within, revocations: users[index]?.revocations };
          })
        : [],
    );
    const written = await writeEach<
      (typeof items)[number],
      Stored<NotificationLevels & { setAt?: number | undefined }> | undefined,
      boolean
    >({
      table: this.#table,
      items,
      read: (unread) =>
        this.#table.getMany(
          NotificationSettingsEntity,
          unread.map((item) => ({ ...scope, ...item })),
        ),
      decide: ({ within, revocations, ...item }, stored) => {
        const setAt = accessTimeAfter(revocations, scope.organizationKey, now);
        const wasRemoved = stored && hasEnded(revocations, within, stored.setAt);
        const merged = { ...(wasRemoved ? {} : stored), ...pickLevels(sent) };
        if (stored && !wasRemoved && notificationChannels.every((channel) => stored[channel] === merged[channel]))
          return { result: true, ops: [] };
        const value = { ...scope, ...item, ...merged, setAt };
        return {
          result: true,
          ops: [insertOrReplace(NotificationSettingsEntity, value, stored, setAt)],
        };
      },
      conflicted: () => false,
    });
    const failed = new Set(items.flatMap(({ userId }, index) => (written[index] ? [] : [userId])));
    return userIds.map((userId, index) => {
      if (!users[index]) return { success: false, message: 'User does not exist.' };
      return failed.has(userId)
        ? { success: false, message: 'User config is being changed by another request.' }
        : { success: true, message: 'User config set successfully.' };
    });
  }
}

function pickLevels(levels: NotificationLevels = {}): NotificationLevels {
  const { inbox, email, slack } = levels;
  return definedFields({ inbox, email, slack });
}

/** In a document, or in the organization if `documentKey` is undefined. */
export async function readNotificationLevels(
  table: Table,
  scope: OrganizationScope,
  documentKey: string | undefined,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, EffectiveLevels>> {
  const settings = await table.getMany(
    NotificationSettingsEntity,
    userIds.flatMap((userId) => [
      { ...scope, userId },
      { ...scope, userId, documentKey },
    ]),
  );
  return new Map(userIds.map((userId, index) => [userId, levelsFor(settings[2 * index], settings[2 * index + 1])]));
}

export const readNotificationSettings = /* @__PURE__ */ storeCapability(NotificationSettingsReader, ['BatchGetItem']);

export const writeNotificationSettings: Capability<Pick<NotificationSettingsWriter, 'set'>> =
  /* @__PURE__ */ storeCapability(NotificationSettingsWriter, ['BatchGetItem', 'PutItem', 'Query']);
