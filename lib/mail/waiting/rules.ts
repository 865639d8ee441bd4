import * as z from 'zod';
import type { NotificationConfig } from '../../workspaces/rules/notificationConfig.ts';
import { People } from '../rules/mailRecord.ts';

const WindowSettings = z.object({ milliseconds: z.number(), maxEntries: z.number().optional() });

/** What an entry waits for. Later changes of the settings do not change it. */
const Waiting = z.object({
  /** Epoch ms. Until then the entry waits for the end of its delay, or of the hour of a limit. */
  joinsAt: z.number(),
  document: WindowSettings.optional(),
  user: WindowSettings.optional(),
  /** Above a limit: waits for the end of the hour instead of windows. */
  isHeld: z.boolean().optional(),
});
export type Waiting = z.output<typeof Waiting>;

/** An activity that waits to be mailed, or sent as a direct message, to one user. */
export const WaitingEntry = Waiting.extend({
  mailId: z.string(),
  eventId: z.string(),
  documentKey: z.string(),
  /** When the activity happened, epoch ms. */
  createdAt: z.number(),
  /** A hash of the recipient's address. */
  recipient: z.string().optional(),
  people: People.optional(),
});
export type WaitingEntry = z.output<typeof WaitingEntry>;

const Window = z.object({ closesAt: z.number(), maxEntries: z.number().optional() });
type Window = z.output<typeof Window>;

export const CollectionState = z.object({
  user: Window.optional(),
  documents: z.record(z.string(), Window).default({}),
  /** Epoch ms. Entries that joined until then were checked when they joined. */
  joinedUntil: z.number().default(0),
  /** The recipient has got the mails of this hour. When it ends, everything collected is one digest. */
  pausedUntil: z.number().optional(),
});
export type CollectionState = z.output<typeof CollectionState>;

export function waitingOf(config: NotificationConfig | undefined, createdAt: number): Waiting | undefined {
  if (!config?.useNotificationService) return undefined;
  const { delayConfig, batchConfig } = config.notificationServiceConfig;
  const delay = delayConfig?.isEnabled ? (delayConfig.delaySeconds ?? 0) : 0;
  const [document, user] = [windowOf(batchConfig?.document), windowOf(batchConfig?.user)];
  if (delay === 0 && !document && !user) return undefined;
  return { joinsAt: createdAt + delay * 1_000, ...(document && { document }), ...(user && { user }) };
}

type Batch = NonNullable<NotificationConfig['notificationServiceConfig']['batchConfig']>['user'];

/** A window needs a length. Without `maxActivities`, only its time closes it. */
function windowOf(batch: Batch): Waiting['user'] {
  const { isEnabled, batchWindowSeconds, maxActivities } = batch ?? {};
  if (!isEnabled || batchWindowSeconds === undefined) return undefined;
  return {
    milliseconds: batchWindowSeconds * 1_000,
    ...(maxActivities !== undefined && { maxEntries: maxActivities }),
  };
}

export function holdUntil(waiting: Waiting | undefined, until: number): Waiting {
  return { joinsAt: Math.max(until, waiting?.joinsAt ?? 0), isHeld: true };
}

/** When a new entry may need the job, unless a window that is already open closes earlier. */
export function wakeTimeOf({ joinsAt, document, user, createdAt }: WaitingEntry): number {
  if (joinsAt > createdAt) return joinsAt;
  return joinsAt + Math.min(document?.milliseconds ?? Infinity, user?.milliseconds ?? Infinity);
}

/** The latest time at which an entry can still wait, apart from the hours of limits. */
export function latestEndOf({ joinsAt, document, user }: Waiting): number {
  return joinsAt + Math.max(document?.milliseconds ?? 0, user?.milliseconds ?? 0);
}

/** An entry with a delay fills a window at the end of the delay, when the job runs anyway. */
export function canFillWindow({ document, user, joinsAt, createdAt }: WaitingEntry): boolean {
  return (document?.maxEntries ?? user?.maxEntries) !== undefined && joinsAt === createdAt;
}

/**
 * Whether a window that `added` joins may be full. It is one of the entries. The entry that opened the window can have
 * other settings, so the smallest numbers count, and the job decides.
 */
export function fillsWindow(entries: readonly WaitingEntry[], added: WaitingEntry): boolean {
  const collected = entries.filter((entry) => isInWindow(entry) && entry.joinsAt <= added.joinsAt);
  const inDocument = collected.filter(({ documentKey }) => documentKey === added.documentKey);
  const smallest = (windows: readonly Waiting['user'][]) =>
    Math.min(...windows.map((window) => window?.maxEntries ?? Infinity));
  return (
    collected.length >= smallest(collected.map(({ user }) => user)) ||
    inDocument.length >= smallest(inDocument.map(({ document }) => document))
  );
}

/** Entries whose delay has just ended. They are checked before they join a window. */
export function joiningEntries(
  { joinedUntil }: CollectionState,
  entries: readonly WaitingEntry[],
  now: number,
): readonly WaitingEntry[] {
  return entries.filter(({ joinsAt, createdAt }) => joinsAt > createdAt && joinsAt > joinedUntil && joinsAt <= now);
}

export interface Advance {
  readonly state: CollectionState;
  /** The entries of each group leave in one mail. */
  readonly groups: readonly (readonly WaitingEntry[])[];
  /** Epoch ms. Undefined if no entry remains. */
  readonly wakeAt: number | undefined;
}

/**
 * Opens windows for the entries that have joined, and closes those whose time has come or that are full. A closed
 * window of a document takes the entries of the document, a closed window of the user takes all.
 */
export function advanceCollection(state: CollectionState, entries: readonly WaitingEntry[], now: number): Advance {
  const pausedUntil = (state.pausedUntil ?? 0) > now ? state.pausedUntil : undefined;
  const joined = entries.filter(({ joinsAt }) => joinsAt <= now).toSorted((a, b) => a.joinsAt - b.joinsAt);
  const opened = openWindows(state, joined);
  const groups = pausedUntil === undefined ? groupsOf(state, opened, joined, now) : [];
  const taken = new Set(groups.flat());
  const remaining = entries.filter((entry) => !taken.has(entry));
  const windows = withoutEmpty(opened, remaining, now);
  const times = [
    ...(pausedUntil === undefined ? [windows.user, ...Object.values(windows.documents)] : []).map(
      (window) => window?.closesAt ?? Infinity,
    ),
    ...remaining.filter(({ joinsAt }) => joinsAt > now).map(({ joinsAt }) => joinsAt),
    ...(pausedUntil !== undefined && remaining.length > 0 ? [pausedUntil] : []),
  ];
  return {
    state: { ...windows, joinedUntil: now, pausedUntil },
    groups,
    wakeAt: remaining.length === 0 ? undefined : Math.min(...times),
  };
}

interface Windows {
  readonly user?: Window | undefined;
  readonly documents: Readonly<Record<string, Window>>;
}

function isInWindow({ document, user }: WaitingEntry): boolean {
  return document !== undefined || user !== undefined;
}

function openWindows(
  { user: openUser, documents: openDocuments }: CollectionState,
  joined: readonly WaitingEntry[],
): Windows {
  const documents = { ...openDocuments };
  let user = openUser;
  const open = (joinsAt: number, { milliseconds, maxEntries }: NonNullable<Waiting['user']>): Window => ({
    closesAt: joinsAt + milliseconds,
    maxEntries,
  });
  for (const entry of joined) {
    const { documentKey, joinsAt } = entry;
    if (entry.document) documents[documentKey] ??= open(joinsAt, entry.document);
    if (entry.user) user ??= open(joinsAt, entry.user);
  }
  return { user, documents };
}

function groupsOf(
  state: CollectionState,
  windows: Windows,
  joined: readonly WaitingEntry[],
  now: number,
): readonly WaitingEntry[][] {
  // The hour of the recipient has ended.
  if (state.pausedUntil !== undefined) return joined.length > 0 ? [[...joined]] : [];
  const collected = joined.filter(isInWindow);
  const held = joined.filter(({ isHeld }) => isHeld);
  const alone = joined.filter((entry) => !entry.isHeld && !isInWindow(entry)).map((entry) => [entry]);
  const others = [...alone, ...(held.length > 0 ? [held] : [])];
  if (windows.user && closes(windows.user, collected, now)) return [...others, [...collected]];
  const ofDocuments = Object.entries(windows.documents).flatMap(([key, window]) => {
    const inDocument = collected.filter(({ documentKey }) => documentKey === key);
    return closes(window, inDocument, now) ? [inDocument] : [];
  });
  return [...others, ...ofDocuments];
}

function closes({ closesAt, maxEntries }: Window, entries: readonly WaitingEntry[], now: number): boolean {
  return entries.length > 0 && (closesAt <= now || entries.length >= (maxEntries ?? Infinity));
}

function withoutEmpty(
  { user, documents }: Windows,
  remaining: readonly WaitingEntry[],
  now: number,
): Windows & {
  documents: Record<string, Window>;
} {
  const collected = remaining.filter((entry) => isInWindow(entry) && entry.joinsAt <= now);
  const keys = new Set(collected.map(({ documentKey }) => documentKey));
  return {
    user: collected.length > 0 ? user : undefined,
    documents: Object.fromEntries(Object.entries(documents).filter(([key]) => keys.has(key))),
  };
}
