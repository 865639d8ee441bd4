/** `npm run openapi`: prints the OpenAPI document of the service as cdk.json configures it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../lib/openapi.ts';
import { projectDir } from './build.ts';
import { readSettings } from './settings.ts';
import { registeredEndpoints } from './synthesise.ts';

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(join(projectDir, file), 'utf8')) as T;
}

const { context } = readJson<{ context: Record<string, unknown> }>('cdk.json');
const { version } = readJson<{ version: string }>('package.json');
const { serviceName } = readSettings((name) => context[name]);
console.log(JSON.stringify(openApiDocument(registeredEndpoints(), { serviceName, version }), null, 2));
