/**
 * Measures the sizes of the function bundles. Also lists AWS clients that a bundle contains although its function does
 * not use them.
 */
import { basename, dirname } from 'node:path';
import * as registry from '../../functions/index.ts';
import { bundleEntries } from '../../infra/build/build.ts';
import { type Endpoint, endpointId } from '../../lib/app/endpoint.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { buildInTemporary } from './bundle.ts';
import { printTable, quantile, reached, type Row } from './report.ts';

const GOAL_BYTES = 520_000;
const SHOWN_BUNDLES = 5;

/** The AWS client that a function needs when it has a permission on a resource of this type. */
const clientFor: Record<string, string> = {
  table: 'client-dynamodb',
  index: 'client-dynamodb',
  queue: 'client-sqs',
  secret: 'client-secrets-manager',
  mail: 'client-sesv2',
  model: 'client-bedrock-runtime',
};

const endpoints = Object.values<Endpoint>(registry);
const { built, remove } = await buildInTemporary(endpoints);
await remove();

const outputs = new Map(
  Object.entries(built.metafile.outputs).map(([file, output]) => [basename(dirname(file)), output]),
);
const bundles = Object.keys(bundleEntries(endpoints))
  .map((id) => ({ id, ...outputs.get(basename(built.folder(id)))! }))
  .sort((a, b) => b.bytes - a.bytes);
const sizes = bundles.map(({ bytes }) => bytes);
const unused = bundles.flatMap(({ id, inputs }) => {
  const clients = clientsOf(id);
  return Object.entries(bytesByClient(inputs))
    .filter(([client]) => !clients.includes(client))
    .map(([client, bytes]): Row => [`${client} in ${id}`, bytes, 'no']);
});

printTable(
  `Bundle sizes in bytes, minified, of ${bundles.length} functions; goal: at most ${GOAL_BYTES}, and no AWS client that is not used`,
  ['what', 'bytes', 'reached'],
  [
    ['smallest', Math.min(...sizes), reached(Math.min(...sizes), GOAL_BYTES)],
    ['median', quantile(sizes, 0.5), reached(quantile(sizes, 0.5), GOAL_BYTES)],
    ...bundles.slice(0, SHOWN_BUNDLES).map(({ id, bytes }) => [id, bytes, reached(bytes, GOAL_BYTES)]),
    ...(unused.length > 0 ? unused : [['AWS clients that are not used', 0, 'yes']]),
  ],
);

function bytesByClient(inputs: Record<string, { bytesInOutput: number }>): Record<string, number> {
  const bytes: Record<string, number> = {};
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    const client = /@aws-sdk\/(client-[a-z0-9-]+)/.exec(file)?.[1];
    if (client) bytes[client] = (bytes[client] ?? 0) + bytesInOutput;
  }
  return bytes;
}

/** Returns the AWS clients that a function needs for its permissions. */
function clientsOf(id: string): (string | undefined)[] {
  const endpoint = endpoints.find(({ path }) => endpointId(path) === id);
  return endpoint
    ? capabilitiesOf(endpoint).flatMap(({ grants }) => grants.map(({ resource }) => clientFor[resource.split('/')[0]!]))
    : [];
}
