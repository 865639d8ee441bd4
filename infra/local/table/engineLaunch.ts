import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../startError.ts';
import { adoptSharedDatabase, databaseKey, dynamoDbLocalCommand } from './dynamoDbLocal.ts';
import { dynoxideCommand, dynoxidePackage, findDynoxide } from './dynoxide.ts';
import type { EngineAddress } from './engineAddress.ts';
import { spawnGuarded } from './guardedProcess.ts';
import { deleteStreamRecords, indexStreamRecords } from './streamRecords.ts';

export type EngineKind = 'dynoxide' | 'dynamodb-local';

export interface Launch {
  readonly isEverywhere: boolean;
  readonly accessKeyId: string;
  /** By these arguments, `findProcesses` finds only engines of this data directory. */
  readonly identifyingArguments: string[];
  /**
   * `output` are the file descriptors of the engine's standard output and standard error. The engine ends with this
   * process.
   */
  spawn(address: EngineAddress, output: readonly [number, number]): ChildProcess;
  /** Called before the engine's first call. */
  started(): void;
  readonly deleteStreamRecords: (table: string, sequence: string) => void;
}

const files: Record<EngineKind, string> = { dynoxide: 'table.db', 'dynamodb-local': 'dynamodb-local' };

/** Throws a `StartError` if this machine lacks what the engine needs, or if the data is of the other engine. */
export async function prepareLaunch(kind: EngineKind, dataDir: string): Promise<Launch> {
  requireSameKind(kind, dataDir);
  return kind === 'dynoxide' ? dynoxide(dataDir) : dynamoDbLocal(dataDir);
}

function requireSameKind(kind: EngineKind, dataDir: string): void {
  const other: EngineKind = kind === 'dynoxide' ? 'dynamodb-local' : 'dynoxide';
  if (existsSync(join(dataDir, files[kind])) || !existsSync(join(dataDir, files[other]))) return;
  throw new StartError(
    `The data in ${dataDir} was written with DYNAMODB_ENGINE=${other}, which ${kind} cannot read. Set DATA_DIR to another directory.`,
  );
}

function dynoxide(dataDir: string): Launch {
  const path = join(dataDir, files.dynoxide);
  let program: string;
  try {
    program = findDynoxide();
  } catch {
    throw new StartError(
      `The table engine ${dynoxidePackage} is not installed. Run npm ci. If there is no such package for this machine, set DYNAMODB_ENGINE=dynamodb-local.`,
    );
  }
  return {
    isEverywhere: false,
    accessKeyId: 'LOCAL',
    identifyingArguments: ['--db-path', path],
    spawn: (address, output) => spawnGuarded(dynoxideCommand(program, address, '--db-path', path), output),
    started: () => indexStreamRecords(path),
    deleteStreamRecords: (table, sequence) => deleteStreamRecords(path, table, sequence),
  };
}

async function dynamoDbLocal(dataDir: string): Promise<Launch> {
  const path = join(dataDir, files['dynamodb-local']);
  const java = await dynamoDbLocalCommand();
  await mkdir(path, { recursive: true });
  const accessKeyId = await databaseKey(`${path}.key`);
  const nothing = () => undefined;
  // DynamoDB Local deletes stream records itself, after a day.
  return {
    isEverywhere: true,
    accessKeyId,
    identifyingArguments: ['-dbPath', path],
    spawn({ port }, output) {
      adoptSharedDatabase(path, accessKeyId);
      return spawnGuarded([...java, '-dbPath', path, '-port', String(port)], output);
    },
    started: nothing,
    deleteStreamRecords: nothing,
  };
}
