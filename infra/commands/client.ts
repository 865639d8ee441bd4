/** `npm run client`: writes the client as a package into `dist/client` and prints the sizes of its modules. */
import { join } from 'node:path';
import * as registry from '../../functions/index.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { projectDir } from '../build/build.ts';
import { buildClientPackage } from '../build/clientPackage.ts';
import { parseArguments, runCommand } from './operator.ts';

const USAGE = `Usage: npm run client

Writes the client for browsers and for Node.js as a package into dist/client. Prints the sizes of its modules.`;

await runCommand(USAGE, async (args) => {
  parseArguments(USAGE, { args });
  const files = await buildClientPackage(Object.entries<Endpoint>(registry), join(projectDir, 'dist/client'));
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
  return files
    .map(({ name, bytes, gzipBytes }) => `${name}: ${kilobytes(bytes)}, ${kilobytes(gzipBytes)} compressed`)
    .join('\n');
});
