import type { StreamSourceModel } from '../assembly/eventSourceModels.ts';
import type { Engine } from '../table/engine.ts';
import type { StreamPosition, StreamPositions } from './streamPositions.ts';
import { SharedReads, streamOf, StreamReader } from './streamReader.ts';

export interface OpenStream {
  readonly model: StreamSourceModel;
  readonly reader: StreamReader;
  readonly shared: SharedReads;
  /** All records up to the position are done. */
  readonly save: (position: StreamPosition) => void;
}

/**
 * Readers begin after their stored positions. Lets the engine delete records that all event sources of a table have
 * processed.
 */
export async function openStreams(
  engine: Pick<Engine, 'call' | 'deleteStreamRecords'>,
  models: readonly StreamSourceModel[],
  positions: StreamPositions,
): Promise<OpenStream[]> {
  const sharedByTable = new Map(models.map(({ table }) => [table, new SharedReads()]));
  const opened = await Promise.all(
    models.map(async (model) => {
      const stream = await streamOf(engine.call, model.table);
      const after = positions.get(model.path, stream);
      const save = (position: StreamPosition) => positions.set(model.path, stream, position);
      const shared = sharedByTable.get(model.table) ?? new SharedReads();
      return { model, after, reader: new StreamReader(engine.call, stream, after, shared), shared, save };
    }),
  );
  for (const [table, sources] of Map.groupBy(opened, ({ model }) => model.table)) {
    const processed = sources.map(({ after }) => BigInt(after?.sequence ?? 0));
    const lowest = processed.reduce((minimum, sequence) => (sequence < minimum ? sequence : minimum));
    engine.deleteStreamRecords(table, String(lowest));
  }
  return opened;
}
