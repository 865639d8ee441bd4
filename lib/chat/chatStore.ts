import { hash } from 'node:crypto';
import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { readMailPause } from '../mail/mailStore.ts';
import { type ChatPart, chatParts } from '../mail/rules/mailRecord.ts';
import type { CollectEntriesDeps } from '../mail/waiting/collectEntriesStep.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type Table, upsert } from '../table/table.ts';
import { ChatConfigEntity } from './chatConfig.ts';
import type { ChatConfig } from './rules/chatConfig.ts';

export const ChatPauseEntity = defineEntity({
  type: 'ChatPause',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A pause of direct messages or channel posts, because Slack refused the bot token or the webhook',
  schema: z.object({ part: z.enum(chatParts), revision: z.number(), until: z.number() }),
  pk: (of: { tenant: string }) => [of.tenant, 'CONFIG'],
  sk: (key: { part: ChatPart }) => ['ChatPause', key.part],
  expiresAt: ({ until }) => Math.ceil(until / 1000),
});

const PAUSE_MILLISECONDS = 60 * 60_000;

/** Of the user's address and the bot token, so that another address or token leads to another look-up. */
const ChatUser = z.object({
  userId: z.string(),
  source: z.string(),
  /** Undefined: nobody in Slack has the address. */
  channelId: z.string().optional(),
  until: z.number(),
});

export const ChatUserEntity = defineEntity({
  type: 'ChatUser',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The channel of direct messages to a user in Slack, or that the user is not there',
  schema: ChatUser,
  pk: (of: { tenant: string; userId: string }) => [of.tenant, 'CHAT_USER', of.userId],
  sk: (_key: unknown) => ['SLACK'],
  expiresAt: ({ until }) => Math.ceil(until / 1000),
});
type ChatUser = z.output<typeof ChatUser>;

const FOUND_MILLISECONDS = 30 * 24 * 60 * 60_000;
/** The user may join Slack. */
const MISSING_MILLISECONDS = 24 * 60 * 60_000;

export interface ChatState {
  readonly config: Stored<ChatConfig>;
  readonly paused: ReadonlySet<ChatPart>;
}

/** Undefined while chat is off. */
export async function readChat(
  reader: Pick<Table, 'batchGet'>,
  tenant: string,
  now: number,
): Promise<ChatState | undefined> {
  const [config, ...pauses] = await reader.batchGet(
    itemOf(ChatConfigEntity, { tenant }),
    ...chatParts.map((part) => itemOf(ChatPauseEntity, { tenant, part })),
  );
  if (!config?.useChatService) return undefined;
  const isActive = (pause: (typeof pauses)[number]) => pause?.revision === config._r && pause.until > now;
  return { config, paused: new Set(pauses.flatMap((pause) => (pause && isActive(pause) ? [pause.part] : []))) };
}

async function readChatPause(table: Table, tenant: string, now: number): Promise<number | undefined> {
  const part = 'direct';
  const [config, pause] = await table.batchGet(
    itemOf(ChatConfigEntity, { tenant }),
    itemOf(ChatPauseEntity, { tenant, part }),
  );
  return pause && pause.revision === config?._r && pause.until > now ? pause.until : undefined;
}

/** Reads the end of a pause of mails or direct messages (epoch ms), undefined without one. */
export const findPauses: Capability<CollectEntriesDeps['pausedUntil']> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem']) },
  ({ table }): CollectEntriesDeps['pausedUntil'] =>
    ({ tenant, channel }) =>
      (channel === 'email' ? readMailPause : readChatPause)(table, tenant, Date.now()),
);

export async function pauseChat(
  table: Table,
  tenant: string,
  { part, revision }: { part: ChatPart; revision: number },
  now: number,
): Promise<void> {
  await table.write([upsert(ChatPauseEntity, { tenant, part, revision, until: now + PAUSE_MILLISECONDS })]);
}

/** The text is sealed, so the hash tells nothing about the address. */
export function sourceOfUser(address: string, { chatServiceConfig }: ChatConfig): string {
  return hash('sha256', JSON.stringify([address.toLowerCase(), chatServiceConfig.botToken]), 'base64url');
}

/** Undefined if the channel must be looked up. */
export function rememberedChannel(
  stored: ChatUser | undefined,
  source: string,
  now: number,
): Pick<ChatUser, 'channelId'> | undefined {
  return stored?.source === source && stored.until > now ? stored : undefined;
}

export async function rememberChannel(
  table: Table,
  tenant: string,
  user: Pick<ChatUser, 'userId' | 'source' | 'channelId'>,
  now: number,
): Promise<void> {
  const until = now + (user.channelId === undefined ? MISSING_MILLISECONDS : FOUND_MILLISECONDS);
  await table.write([upsert(ChatUserEntity, { tenant, ...user, until })]);
}

/** The next message looks the channel up again. */
export async function forgetChannel(table: Table, tenant: string, userId: string, now: number): Promise<void> {
  await table.write([upsert(ChatUserEntity, { tenant, userId, source: '', until: now })]);
}
