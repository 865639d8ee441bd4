import type { ChannelPublisher } from './channelPublisher.ts';
import type { LiveKeys } from './liveKeys.ts';
import type { LiveStore } from './liveStore.ts';
import type { HintCatalogue } from './rules/hints.ts';

export interface LivePorts {
  readonly store: LiveStore;
  readonly keys: Pick<LiveKeys, 'names'>;
  readonly publisher: ChannelPublisher;
  readonly hints: HintCatalogue;
}
