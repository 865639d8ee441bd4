/**
 * `npm run test:engine` runs tests of endpoints and deliveries on DynamoDB Local, the table engine of AWS. If they
 * cannot run on this machine, it prints the reason.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { StartError } from '../../infra/local/startError.ts';
import { dynamoDbLocalCommand } from '../../infra/local/table/dynamoDbLocal.ts';
import { listening, START_MILLISECONDS } from '../../infra/local/table/engine.ts';
import { freeAddress } from '../../infra/local/table/engineAddress.ts';
import { spawnGuarded } from '../../infra/local/table/guardedProcess.ts';

/**
 * The tests to run. Their table calls are of most kinds: conditions, transactions, pages, indexes and batches. All of
 * them together take less than three minutes.
 */
const FILES = [
  'directory/organizations',
  'directory/folders',
  'directory/permissions',
  'directory/userGroups',
  'table/table',
  'table/idempotency',
  'comments/threads',
  'comments/comments',
  'webhooks/deliveries',
  'webhooks/deliverySweep',
  'webhooks/webhookStates',
  'workspaces/workspaceKeys',
].map((name) => `test/integration/${name}.test.ts`);

const projectDir = resolve(import.meta.dirname, '../..');

async function main(): Promise<number> {
  // Jest ignores a missing file if others exist, so the files are checked first.
  const missing = FILES.filter((file) => !existsSync(resolve(projectDir, file)));
  if (missing.length > 0) throw new Error(`There is no ${missing.join(', ')}`);
  let command: string[];
  try {
    command = await dynamoDbLocalCommand();
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.log(`SKIPPED: the tests on DynamoDB Local (${FILES.join(', ')}). ${error.message}`);
    return 0;
  }
  const address = await freeAddress({ isEverywhere: true });
  // The option `-sharedDb` is left out, so each access key has its own database.
  const engine = spawnGuarded([...command, '-inMemory', '-port', String(address.port)], ['pipe', 'pipe']);
  const ended = once(engine, 'exit');
  try {
    const failure = await listening(address, AbortSignal.timeout(START_MILLISECONDS));
    if (failure !== undefined) throw new Error(`DynamoDB Local did not start: ${failure}`);
    console.log(`On DynamoDB Local: ${FILES.join(', ')}`);
    const jest = [
      '--experimental-vm-modules',
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--maxWorkers=2',
      'test/engine/',
      ...FILES,
    ];
    const run = spawn(process.execPath, jest, {
      cwd: projectDir,
      stdio: 'inherit',
      env: { ...process.env, DYNAMODB_LOCAL_URL: address.url },
    });
    const [code] = (await once(run, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    engine.kill('SIGKILL');
    await ended;
  }
}

process.exitCode = await main();
