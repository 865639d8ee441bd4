import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OpenApiDocument, openApiDocument } from '../../lib/openapi/document.ts';
import { type Deployment, placeholders } from '../../lib/openapi/deployment.ts';
import { projectDir } from './build.ts';
import { registeredEndpoints } from './registry.ts';

/** The OpenAPI document of everything that is registered. */
export async function referenceDocument(place: Deployment): Promise<OpenApiDocument> {
  const { version } = JSON.parse(await readFile(join(projectDir, 'package.json'), 'utf8')) as { version: string };
  return openApiDocument(registeredEndpoints(), { ...place, version });
}

/** The same as the text that functions carry, in which the deployment is still to be named. */
export async function referenceText(): Promise<string> {
  return JSON.stringify(await referenceDocument(placeholders));
}
