import type { FunctionModel } from '../assembly/functionModel.ts';
import type { SystemModel, TableModel } from '../assembly/model.ts';
import type { DemoCredentials } from '../demoWorkspace.ts';
import { openOutbox, type Outbox } from '../mail/mailOutbox.ts';
import type { Measurements } from '../metrics/measurements.ts';
import { openDatabase } from '../queues/database.ts';
import { sampleQueues } from '../queues/queueSampler.ts';
import { QueueStore } from '../queues/queueStore.ts';
import { StoppableMessages } from '../queues/stoppableMessages.ts';
import { openSecrets, type Secret } from '../secrets.ts';
import type { Shutdown } from '../shutdown.ts';
import { StreamPositions } from '../streams/streamPositions.ts';
import { type OpenStream, openStreams } from '../streams/streams.ts';
import { type Engine, startEngine } from '../table/engine.ts';
import type { EngineKind } from '../table/engineLaunch.ts';
import { indexKeySizes } from '../table/requestFault.ts';
import { ensureTable, keyNames, withoutVectorIndexes } from '../table/table.ts';
import { TableCalls } from '../table/tableCalls.ts';

export interface Stores {
  readonly engine: Engine;
  readonly table: TableCalls;
  readonly queues: QueueStore;
  /** The queues as event sources read them. */
  readonly messages: StoppableMessages;
  readonly streams: readonly OpenStream[];
  readonly secrets: readonly Secret[];
  readonly outbox: Outbox;
}

interface StoresOptions {
  readonly dataDir: string;
  readonly engineKind: EngineKind;
  readonly model: SystemModel;
  readonly measurements: Measurements;
  /** Called after each write to the table. */
  readonly onWrite: () => void;
  readonly report: (line: string) => void;
  readonly shutdown: Shutdown;
}

export async function openStores(options: StoresOptions): Promise<Stores> {
  const { dataDir, engineKind, model, measurements, onWrite, report, shutdown } = options;
  const engine = await startEngine(engineKind, dataDir);
  shutdown.add(() => engine.stop());
  await ensureTables(engineKind, engine, model.tables, report);
  const database = openDatabase(dataDir);
  shutdown.add(() => database.close());
  const queues = new QueueStore(database, model.queues);
  shutdown.add(sampleQueues(queues, measurements));
  return {
    engine,
    table: new TableCalls({
      engine: engine.connections,
      keyNames: new Map(model.tables.map((table) => [table.name, keyNames(table)])),
      indexKeySizes: new Map(model.tables.flatMap(({ properties }) => [...indexKeySizes(properties)])),
      measurements,
      onWrite,
    }),
    queues,
    messages: new StoppableMessages(queues),
    streams: await openStreams(engine, model.streamSources, new StreamPositions(database)),
    secrets: await openSecrets(dataDir, model.secrets),
    outbox: await openOutbox(dataDir),
  };
}

async function ensureTables(
  kind: EngineKind,
  { call }: Engine,
  tables: readonly TableModel[],
  report: (line: string) => void,
): Promise<void> {
  const hasVectorIndexes = kind === 'dynoxide';
  if (!hasVectorIndexes)
    report(
      'DynamoDB Local has no vector indexes, so the table has none. A call of /v2/memory/search with a query answers UNAVAILABLE.',
    );
  for (const table of tables) await ensureTable(call, hasVectorIndexes ? table : withoutVectorIndexes(table));
}

/** Stores the credentials in the heartbeat's secret, as an operator would. */
export function storeHeartbeatCredentials(
  functions: readonly FunctionModel[],
  secrets: readonly Secret[],
  { apiKey, authToken }: Pick<DemoCredentials, 'apiKey' | 'authToken'>,
): void {
  const arns = new Set(functions.map(({ environment }) => environment.HEARTBEAT_SECRET_ARN));
  for (const secret of secrets) if (arns.has(secret.arn)) secret.value = JSON.stringify({ apiKey, authToken });
}
