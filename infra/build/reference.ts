import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deployment, placeholders } from '../../lib/openapi/deployment.ts';
import { type OpenApiDocument, openApiDocument } from '../../lib/openapi/document.ts';
import { lazy } from '../../lib/shared/lazy.ts';
import { projectDir } from './build.ts';
import { registeredEndpoints } from './registry.ts';

export async function referenceDocument(deployment: Deployment): Promise<OpenApiDocument> {
  const { version } = JSON.parse(await readFile(join(projectDir, 'package.json'), 'utf8')) as { version: string };
  return openApiDocument(registeredEndpoints(), { ...deployment, version });
}

/** The functions replace the placeholders by the URL and the service name of their deployment. */
export const bundledReference = lazy(() => referenceDocument(placeholders));
