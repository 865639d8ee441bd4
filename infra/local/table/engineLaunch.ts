import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { dynamoDbLocalCommand } from './dynamoDbLocal.ts';
import { spawnGuarded } from './guardedProcess.ts';
import type { EngineKind } from '../settings.ts';
import { StartError } from '../startError.ts';
import { forgetStreamRecords, indexStreamRecords } from '../streams/streamRecords.ts';

export interface Launch {
  /** The arguments by which its process is told from all others. */
  readonly marks: string[];
  /** Starts a process that writes to these files. It ends when this process ends, however that happens. */
  spawn(port: number, output: readonly [number, number]): ChildProcess;
  /** To be called when it has started, before it is used. */
  started(): void;
  /** Removes stream records of a table before this one, which nobody will read again. */
  forgetStreamRecords(table: string, sequence: string): void;
}

const files: Record<EngineKind, string> = { dynoxide: 'table.db', 'dynamodb-local': 'dynamodb-local' };

/** What it takes to start an engine of this kind; a `StartError` says what is missing on this machine. */
export async function prepareLaunch(kind: EngineKind, dataDir: string): Promise<Launch> {
  refuseOtherKind(kind, dataDir);
  return kind === 'dynoxide' ? dynoxide(dataDir) : dynamoDbLocal(dataDir);
}

function refuseOtherKind(kind: EngineKind, dataDir: string): void {
  const other: EngineKind = kind === 'dynoxide' ? 'dynamodb-local' : 'dynoxide';
  if (existsSync(join(dataDir, files[kind])) || !existsSync(join(dataDir, files[other]))) return;
  throw new StartError(
    `The data in ${dataDir} was written with DYNAMODB_ENGINE=${other}, which ${kind} cannot read. Set DATA_DIR to another directory.`,
  );
}

function dynoxide(dataDir: string): Launch {
  const path = join(dataDir, files.dynoxide);
  const platform = `@dynoxide/${process.platform}-${process.arch}`;
  let binary: string;
  try {
    binary = join(dirname(createRequire(import.meta.url).resolve(`${platform}/package.json`)), 'dynoxide');
  } catch {
    throw new StartError(
      `The table engine ${platform} is not installed. Run npm ci; if there is no such package for this machine, set DYNAMODB_ENGINE=dynamodb-local.`,
    );
  }
  return {
    marks: ['--db-path', path],
    spawn: (port, output) =>
      spawnGuarded([binary, 'serve', '--host', '127.0.0.1', '--port', String(port), '--db-path', path], output),
    started: () => indexStreamRecords(path),
    forgetStreamRecords: (table, sequence) => forgetStreamRecords(path, table, sequence),
  };
}

async function dynamoDbLocal(dataDir: string): Promise<Launch> {
  const path = join(dataDir, files['dynamodb-local']);
  const java = await dynamoDbLocalCommand();
  await mkdir(path, { recursive: true });
  const nothing = () => undefined;
  // It forgets stream records by itself, after a day.
  return {
    marks: ['-dbPath', path],
    spawn: (port, output) => spawnGuarded([...java, '-sharedDb', '-dbPath', path, '-port', String(port)], output),
    started: nothing,
    forgetStreamRecords: nothing,
  };
}
