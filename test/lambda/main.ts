/**
 * `npm run test:lambda` runs the bundles of all functions under AWS's runtime client, and deploys the templates into moto. It
 * prints the reason for what this machine cannot run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { cachedAssembly } from '../../infra/local/assembly/assemblyCache.ts';
import { motoTypes } from '../support/moto.ts';
import { runtimeClient } from './runtimeClient.ts';

const projectDir = resolve(import.meta.dirname, '../..');

/** Returns what `prepare` returns. If it throws, prints what is skipped and why, and returns undefined. */
async function orSkip<T>(name: string, prepare: () => Promise<T>): Promise<T | undefined> {
  try {
    return await prepare();
  } catch (error) {
    console.log(`SKIPPED: ${name}. ${(error as Error).message}`);
    return undefined;
  }
}

async function main(): Promise<number> {
  const client = await orSkip('the bundles under the runtime client of Lambda (test/lambda)', runtimeClient);
  const types = await orSkip('the templates in moto (test/lambda/templates.test.ts)', motoTypes);
  const files = [
    ...(client === undefined ? [] : ['endpoints', 'workers', 'deadline', 'pings']),
    ...(types === undefined ? [] : ['templates']),
  ].map((name) => `test/lambda/${name}.test.ts`);
  if (files.length === 0) return 0;
  // The tests run at the same time, and all use this assembly.
  await cachedAssembly(() => console.log('Building templates and bundles …'), { hasHeartbeat: true });
  const jest = [
    '--no-compilation-cache',
    '--experimental-vm-modules',
    '--no-warnings',
    'node_modules/jest/bin/jest.js',
  ];
  const run = spawn(process.execPath, [...jest, '--maxWorkers=2', ...files, ...process.argv.slice(2)], {
    cwd: projectDir,
    stdio: 'inherit',
    env: { ...process.env, LAMBDA_TESTS: 'true', ...(client !== undefined && { LAMBDA_RUNTIME_CLIENT: client }) },
  });
  const [code] = (await once(run, 'exit')) as [number | null];
  return code ?? 1;
}

process.exitCode = await main();
