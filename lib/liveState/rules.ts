import * as z from 'zod';
import { isLongerThan } from '../shared/bytes.ts';
import { isObject } from '../shared/collections.ts';
import { AnyObject, defineNamedSchema, limits } from '../shared/schema.ts';

export const MAX_LIVE_STATES = 1_000;

export const LiveState = z.object({
  liveStateDataId: z.string(),
  data: z.string(),
  /** On the server's clock, epoch milliseconds. It grows with each broadcast. */
  at: z.number(),
  userId: z.string().optional(),
});
export type LiveState = z.output<typeof LiveState>;

export const LiveStateResponse = /* @__PURE__ */ defineNamedSchema('LiveState', () =>
  z
    .object({
      liveStateDataId: z.string().describe('Your own name of the data.'),
      data: AnyObject.describe('The shared data.'),
      at: z
        .number()
        .describe('The server time of the last broadcast, in epoch milliseconds. It grows with each broadcast.'),
    })
    .describe('Data that the users of a document share.'),
);
export type LiveStateResponse = z.output<typeof LiveStateResponse>;

export interface Broadcast {
  readonly liveStateDataId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly merge: boolean;
  readonly userId: string | undefined;
}

/**
 * Returns `superseded` if a newer broadcast is stored, and `too large` for more than 64 KB. A merge is never
 * superseded, because it changes only the fields that it sends.
 */
export function applyBroadcast(
  stored: LiveState | undefined,
  { liveStateDataId, data, merge, userId }: Broadcast,
  now: number,
): LiveState | 'superseded' | 'too large' {
  if (stored && !merge && stored.at > now) return 'superseded';
  const text = JSON.stringify(stored && merge ? mergeObjects(readData(stored), data) : data);
  if (isLongerThan(text, limits.objectBytes)) return 'too large';
  return { liveStateDataId, data: text, at: Math.max(now, (stored?.at ?? 0) + 1), userId };
}

/**
 * Any other value of `sent` than an object, also an array or null, replaces the stored one. A key named `__proto__` is
 * kept.
 */
function mergeObjects(
  stored: Readonly<Record<string, unknown>>,
  sent: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changed = Object.entries(sent).map(([key, value]) => {
    const earlier = Object.hasOwn(stored, key) ? stored[key] : undefined;
    return [key, isObject(earlier) && isObject(value) ? mergeObjects(earlier, value) : value] as const;
  });
  return Object.fromEntries([...Object.entries(stored), ...changed]);
}

function readData({ data }: LiveState): Record<string, unknown> {
  return JSON.parse(data) as Record<string, unknown>;
}

export function toLiveStateResponse(state: LiveState): LiveStateResponse {
  return { liveStateDataId: state.liveStateDataId, data: readData(state), at: state.at };
}

export interface LiveStateMessage extends LiveStateResponse {
  readonly type: 'livestate.update';
  readonly by?: string | undefined;
}

export function liveStateMessage(state: LiveState): LiveStateMessage {
  return { type: 'livestate.update', ...toLiveStateResponse(state), by: state.userId };
}
