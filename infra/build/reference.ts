import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deployment, placeholders } from '../../lib/openapi/deployment.ts';
import { type OpenApiDocument, openApiDocument } from '../../lib/openapi/document.ts';
import { lazy } from '../../lib/shared/lazy.ts';
import { projectDir } from './build.ts';
import { registeredEndpoints } from './registry.ts';

/** Returns the OpenAPI document of all registered endpoints. */
export async function referenceDocument(deployment: Deployment): Promise<OpenApiDocument> {
  const { version } = JSON.parse(await readFile(join(projectDir, 'package.json'), 'utf8')) as { version: string };
  return openApiDocument(registeredEndpoints(), { ...deployment, version });
}

/**
 * Returns the OpenAPI document that the bundles contain. It has placeholders for the URL and the service name. The
 * function replaces them by the values of its deployment.
 */
export const bundledReference = lazy(() => referenceDocument(placeholders));
