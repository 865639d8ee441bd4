import { parseJson } from '../../../lib/shared/parseJson.ts';

/** The quotas of AppSync Events for a single client. */
export const quotas = {
  segments: 5,
  segmentCharacters: 50,
  eventsPerPublish: 5,
  eventBytes: 240 * 1024,
  subscriptionsPerConnection: 100,
  tokenCharacters: 2_048,
} as const;

export interface ChannelPath {
  readonly namespace: string;
  readonly path: string;
  /** The path ends with `*`, which matches one or more segments. */
  readonly isPattern: boolean;
}

const SEGMENT = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,48}[A-Za-z0-9])?$/;

/** Returns undefined for an invalid path. Only subscriptions (`pattern`) may end with `*`. */
export function readChannel(value: unknown, { pattern }: { pattern: boolean }): ChannelPath | undefined {
  if (typeof value !== 'string' || value.length > 1_000) return undefined;
  const segments = value.replace(/^\//, '').replace(/\/$/, '').split('/');
  const isPattern = pattern && segments.length > 1 && segments.at(-1) === '*';
  const named = isPattern ? segments.slice(0, -1) : segments;
  if (segments.length > quotas.segments || !named.every((segment) => SEGMENT.test(segment))) return undefined;
  return { namespace: named[0] ?? '', path: `/${segments.join('/')}`, isPattern };
}

export function isSubscribed({ path, isPattern }: ChannelPath, channel: string): boolean {
  return isPattern ? channel.startsWith(path.slice(0, -1)) : channel === path;
}

export function eventsFault(events: unknown): string | undefined {
  if (!Array.isArray(events) || events.length === 0 || events.length > quotas.eventsPerPublish)
    return `A publish has 1 to ${quotas.eventsPerPublish} events`;
  for (const event of events) {
    if (typeof event !== 'string' || parseJson(event) === undefined) return 'Each event is a text with valid JSON';
    if (Buffer.byteLength(event) > quotas.eventBytes) return `An event has at most ${quotas.eventBytes} bytes`;
  }
  return undefined;
}
