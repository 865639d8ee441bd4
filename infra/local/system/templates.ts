import { cachedAssembly } from '../assembly/assemblyCache.ts';
import { loadAssembly } from '../assembly/cloudAssembly.ts';
import { modelOf, type SystemModel } from '../assembly/model.ts';
import type { LocalSettings } from '../settings.ts';
import type { Servers } from './servers.ts';

/** `apiId` names the HTTP API in metrics. */
interface Templates {
  readonly model: SystemModel;
  readonly apiId: string;
}

/**
 * Without `assemblyDir`, makes the templates if they are not in the cache, which takes seconds, and announces that with
 * `report`.
 */
export async function readTemplates(
  settings: LocalSettings,
  { gateway, aws, eventApi }: Servers,
  report: (line: string) => void,
): Promise<Templates> {
  const dir =
    settings.assemblyDir ?? (await cachedAssembly(() => report('Building templates and bundles …'), settings));
  const assembly = loadAssembly(dir, { api: gateway.url, aws: aws.url, live: eventApi.url });
  return {
    model: modelOf(assembly, settings.serviceName),
    apiId: assembly.resources.find(({ type }) => type === 'AWS::ApiGatewayV2::Api')?.ref ?? '',
  };
}
