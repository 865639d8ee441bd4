import type { Engine } from '../table/engine.ts';
import type { StreamSourceModel } from './eventSourceModels.ts';
import type { StreamPosition, StreamPositions } from './streamPositions.ts';
import { streamOf, StreamReader } from './streamReader.ts';

/** The stream of one event source. */
export interface OpenStream {
  readonly model: StreamSourceModel;
  readonly reader: StreamReader;
  /** Stores that everything up to this position is done. */
  readonly save: (position: StreamPosition) => void;
}

/**
 * Opens the streams of the event sources at the positions of the last run. Deletes records that every event source has
 * processed.
 */
export async function openStreams(
  engine: Pick<Engine, 'call' | 'deleteStreamRecords'>,
  models: readonly StreamSourceModel[],
  positions: StreamPositions,
): Promise<OpenStream[]> {
  const opened = await Promise.all(
    models.map(async (model) => {
      const stream = await streamOf(engine.call, model.table);
      const after = positions.get(model.path, stream);
      const save = (position: StreamPosition) => positions.set(model.path, stream, position);
      return { model, after, reader: new StreamReader(engine.call, stream, after), save };
    }),
  );
  for (const [table, sources] of Map.groupBy(opened, ({ model }) => model.table)) {
    const done = sources.map(({ after }) => BigInt(after?.sequence ?? 0));
    engine.deleteStreamRecords(table, String(done.reduce((least, each) => (each < least ? each : least))));
  }
  return opened;
}
