import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { definedFields } from '../shared/collections.ts';
import { accessTimeAfter, hasEnded } from '../directory/rules/access.ts';
import {
  levelsFor,
  type NotificationChannel,
  type NotificationLevel,
  notificationChannels,
  type NotificationLevels,
  notificationLevels,
} from '../events/rules/recipients.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { type OrganizationScope, organizationPartition } from '../directory/folders/folders.ts';
import { keyPrefix } from '../table/keys.ts';
import { insert, type QueryableEntity, replace, type Table } from '../table/table.ts';
import { UserEntity } from '../directory/users.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

const Level = z.enum(notificationLevels).optional();

/** The notification levels of a user, in an organization or in one document. A level that was never set is absent. */
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
    /** Epoch ms, of the last change. */ setAt: z.number().optional(),
  }),
  pk: (of: OrganizationScope & { userId: string }) => organizationPartition(of, 'USER', of.userId),
  // The settings of the organization have no document key.
  sk: (key: { documentKey?: string | undefined }) => [
    'SETTINGS',
    ...(key.documentKey === undefined ? [] : [key.documentKey]),
  ],
  indexes: {
    gsi2: {
      holds: 'notification settings for an organization or document, by user',
      pk: ({ tenant, organizationKey, documentKey }: OrganizationScope & { documentKey?: string | undefined }) => [
        tenant,
        'SETTINGS',
        documentKey ?? organizationKey,
      ],
      sk: ({ userId }) => [userId],
    },
  },
});

/** The prefix of the sort keys of settings for documents. The document key follows it unescaped. */
export const settingsPrefix = ['SETTINGS'];

/** Settings for documents with their document keys. Query them with `settingsPrefix`. */
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

/** The organization, or one document. */
export interface SettingsScope {
  readonly documentKey?: string | undefined;
}

/** The levels that are set in one scope, and the effective level of each channel. */
export interface ScopedSettings {
  readonly set: NotificationLevels;
  readonly effective: EffectiveLevels;
}

export class NotificationSettingsReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns a user's settings in each of the scopes. One BatchGet. */
  async get(scope: OrganizationScope, userId: string, scopes: readonly SettingsScope[]): Promise<ScopedSettings[]> {
    const [organization, ...found] = await this.#table.getMany(
      NotificationSettingsEntity,
      [{}, ...scopes].map((settings) => ({ ...scope, userId, ...settings })),
    );
    return found.map((set) => ({
      set: { ...organization, ...pickLevels(set) },
      effective: levelsFor(organization, set),
    }));
  }
}

export interface SettingsResult {
  readonly success: boolean;
  readonly message: string;
}

export class NotificationSettingsWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Sets levels of users in each of the scopes. Channels that are not sent keep their level, unless the user was
   * removed meanwhile. An unknown user fails alone. Users and scopes are distinct. Returns one result per user.
   */
  async set(
    scope: OrganizationScope,
    userIds: readonly string[],
    scopes: readonly SettingsScope[],
    sent: NotificationLevels,
    now: number,
  ): Promise<SettingsResult[]> {
    const users = await this.#table.getMany(
      UserEntity,
      userIds.map((userId) => ({ tenant: scope.tenant, userId })),
    );
    const items = userIds.flatMap((userId, index) =>
      users[index]
        ? scopes.map(({ documentKey }) => ({ userId, documentKey, departures: users[index]?.departures }))
        : [],
    );
    const written = await writeEach<
      (typeof items)[number],
      Stored<NotificationLevels & { setAt?: number | undefined }> | undefined,
      boolean
    >({
      table: this.#table,
      items,
      read: (some) =>
        this.#table.getMany(
          NotificationSettingsEntity,
          some.map((item) => ({ ...scope, ...item })),
        ),
      decide: ({ departures, ...item }, stored) => {
        const setAt = accessTimeAfter(departures, scope.organizationKey, now);
        const wasRemoved =
          stored &&
          hasEnded(departures, [item.documentKey ?? scope.organizationKey, scope.organizationKey], stored.setAt);
        const merged = { ...(wasRemoved ? {} : stored), ...pickLevels(sent) };
        if (stored && !wasRemoved && notificationChannels.every((channel) => stored[channel] === merged[channel]))
          return { result: true, ops: [] };
        const value = { ...scope, ...item, ...merged, setAt };
        return {
          result: true,
          ops: [
            stored
              ? replace(NotificationSettingsEntity, value, stored._r)
              : insert(NotificationSettingsEntity, value, setAt),
          ],
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

/**
 * Returns the effective levels of users in a document; without a document, in the organization. The fan-out of events
 * calls it with everybody whom an event may concern. One BatchGet per 50 users, in parallel.
 */
export async function readNotificationLevels(
  table: Table,
  scope: OrganizationScope,
  documentKey: string | undefined,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, EffectiveLevels>> {
  const found = await table.getMany(
    NotificationSettingsEntity,
    userIds.flatMap((userId) => [
      { ...scope, userId },
      { ...scope, userId, documentKey },
    ]),
  );
  return new Map(userIds.map((userId, index) => [userId, levelsFor(found[2 * index], found[2 * index + 1])]));
}

export const readNotificationSettings = /* @__PURE__ */ storeCapability(NotificationSettingsReader, ['BatchGetItem']);

export const writeNotificationSettings: Capability<Pick<NotificationSettingsWriter, 'set'>> =
  /* @__PURE__ */ storeCapability(NotificationSettingsWriter, ['BatchGetItem', 'PutItem']);
