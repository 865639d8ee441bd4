/** The sizes of the functions' bundles, and the AWS clients in them that their functions have no use for. */
import * as registry from '../../functions/index.ts';
import { DEFAULT_FUNCTION } from '../../infra/build.ts';
import { type Endpoint, endpointId } from '../../lib/endpoint.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { buildInTemporary } from './bundle.ts';
import { printTable, quantile, reached } from './report.ts';

const GOAL_BYTES = 520_000;
const LARGEST = 5;

const endpoints = Object.values<Endpoint>(registry);
const { built, remove } = await buildInTemporary(endpoints);
await remove();
const bundles = Object.entries(built.metafile.outputs).map(([file, { bytes, inputs }]) => ({
  id: file.split('/').at(-2) ?? '',
  bytes,
  clients: [...new Set(Object.keys(inputs).flatMap((input) => /@aws-sdk\/(client-[a-z0-9-]+)/.exec(input)?.[1] ?? []))],
})).sort((a, b) => b.bytes - a.bytes);
const sizes = bundles.map(({ bytes }) => bytes);
const unused = bundles.flatMap(({ id, clients }) => clients.filter((client) => !clientsUsed(id).includes(client)).map((client) => `${client} in ${id}`));

printTable(`Bundle sizes in bytes, minified, of ${bundles.length} functions; goal: at most ${GOAL_BYTES}`, ['what', 'bytes', 'reached'], [
  ['smallest', Math.min(...sizes), ''],
  ['median', quantile(sizes, 0.5), ''],
  ...bundles.slice(0, LARGEST).map(({ id, bytes }) => [id, bytes, reached(bytes, GOAL_BYTES)]),
  ['AWS clients that are not used', unused.join(', ') || '0', reached(unused.length, 0)],
]);

function clientsUsed(id: string): string[] {
  const endpoint = endpoints.find(({ path }) => endpointId(path) === id);
  if (!endpoint || id === DEFAULT_FUNCTION) return [];
  const resources = capabilitiesOf(endpoint).flatMap(({ grants }) => grants.map(({ resource }) => resource));
  return [
    ...(resources.some((resource) => resource === 'table' || resource.startsWith('index/')) ? ['client-dynamodb'] : []),
    ...(resources.some((resource) => resource.startsWith('secret/')) ? ['client-secrets-manager'] : []),
  ];
}
