import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { EngineAddress } from './engineAddress.ts';

export const dynoxidePackage = `@dynoxide/${process.platform}-${process.arch}`;

/** Throws if the package is not installed. */
export function findDynoxide(): string {
  return join(dirname(createRequire(import.meta.url).resolve(`${dynoxidePackage}/package.json`)), 'dynoxide');
}

/** One thread, because the engine handles one call at a time. */
export function dynoxideCommand(program: string, { host, port }: EngineAddress, ...options: string[]): string[] {
  return ['env', 'TOKIO_WORKER_THREADS=1', program, 'serve', '--host', host, '--port', String(port), ...options];
}
