import type { Table } from '../table/table.ts';
import { AudienceReader } from './audienceReader.ts';
import type { ChannelPublisher } from './channelPublisher.ts';
import { EditorParts } from './editorPushes.ts';
import { HintLog } from './hintLog.ts';
import type { LiveKeys } from './liveKeys.ts';
import type { HintCatalogue } from './rules/hints.ts';
import { SessionStore } from './sessionStore.ts';

interface LiveStores {
  readonly sessionStore: SessionStore;
  readonly hintLog: HintLog;
  readonly audienceReader: AudienceReader;
  readonly editorParts: EditorParts;
}

export interface LivePorts extends LiveStores {
  readonly keys: Pick<LiveKeys, 'names'>;
  readonly publisher: ChannelPublisher;
  readonly hints: HintCatalogue;
}

export function liveStores(table: Table): LiveStores {
  return {
    sessionStore: new SessionStore(table),
    hintLog: new HintLog(table),
    audienceReader: new AudienceReader(table),
    editorParts: new EditorParts(table),
  };
}
