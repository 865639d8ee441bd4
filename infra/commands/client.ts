/** `npm run client`: writes the client as a package into `dist/client`, packs it, and prints how to install it. */
import { join } from 'node:path';
import * as registry from '../../functions/index.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { projectDir } from '../build/build.ts';
import { buildClientPackage, packClient } from '../build/clientPackage.ts';
import { projectContext } from '../build/projectContext.ts';
import { readSettings } from '../settings/settings.ts';
import { parseArguments, runCommand } from './operator.ts';

const USAGE = `Usage: npm run client

Writes the client for browsers and for Node.js as a package into dist/client, and packed as a .tgz file beside this
folder. Prints the sizes of its modules, and the line that installs the file. The environment variable SERVICE_NAME is
the name of the service in header names and in names of fields (default: the setting serviceName of cdk.json).`;

await runCommand(USAGE, async (args) => {
  parseArguments(USAGE, { args });
  const context: Record<string, unknown> = {
    ...projectContext(),
    ...(process.env.SERVICE_NAME && { serviceName: process.env.SERVICE_NAME }),
  };
  const { serviceName } = readSettings((name) => context[name]);
  const folder = join(projectDir, 'dist/client');
  const { modules } = await buildClientPackage(Object.entries<Endpoint>(registry), folder, { serviceName });
  const file = await packClient(folder, join(projectDir, 'dist'));
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
  return [
    ...modules.map(({ name, bytes, gzipBytes }) => `${name}: ${kilobytes(bytes)}, ${kilobytes(gzipBytes)} compressed`),
    '',
    'Install the packed client in your application. A link to the folder would bring a second copy of yjs:',
    `npm install ${file}`,
  ].join('\n');
});
