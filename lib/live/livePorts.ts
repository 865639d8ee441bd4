import type { ChannelPublisher } from './channelPublisher.ts';
import type { LiveKeys } from './liveKeys.ts';
import type { LiveStore } from './liveStore.ts';

/** The store, keys and client with which changes are published. */
export interface LivePorts {
  readonly store: LiveStore;
  readonly keys: Pick<LiveKeys, 'names'>;
  readonly publisher: ChannelPublisher;
}
