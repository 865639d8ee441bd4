import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { buildFunctions, projectDir } from '../../infra/build/build.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const folder = temporaryFolder();
const preload = join(folder, 'preload.cjs');
let bundle: string;

/** Calls each AWS service that functions call. The answers do not matter. */
const callsOfAllServices = `
import { openBedrock } from '${projectDir}/lib/bedrock/client.ts';
import { TitanEmbedder } from '${projectDir}/lib/bedrock/titan.ts';
import { KeyRing } from '${projectDir}/lib/crypto/keyRing.ts';
import { SesMailer } from '${projectDir}/lib/mail/senders/ses.ts';
import { searchVectors } from '${projectDir}/lib/memory/vectorSearch.ts';
import { openTable } from '${projectDir}/lib/table/table.ts';
import { SqsSender } from '${projectDir}/lib/workers/sender.ts';

const table = openTable({ TABLE_NAME: 'table' });
const queue = 'https://sqs.us-east-1.amazonaws.com/1/jobs';
const calls = [
  () => table.get({ key: () => ({ PK: 'a', SK: 'b' }), fromItem: () => undefined }, {}),
  () => searchVectors(table, 'judgments', { vector: [1], where: {}, limit: 1 }),
  () => new SqsSender(queue).send([{ body: {} }]),
  () => new KeyRing('arn').current(),
  () => new SesMailer('a@example.com').send({ to: 'b@example.com', subject: '', text: '', html: '' }),
  () => new TitanEmbedder(openBedrock(), { attempts: 1, timeout: 1_000, pause: 1 }).embed(['a']),
];
for (const call of calls) await call().catch(() => undefined);
process.exit();
`;

/** Prints the host of each request, and fails the request. */
const printHosts = `
function refuse(host) {
  console.log(host);
  throw new Error('There is no network');
}
require('node:https').request = ({ host }) => refuse(host);
require('node:http2').connect = (url) => refuse(new URL(url).host);
`;

const hosts = (services: string[], suffix = '', domain = 'amazonaws.com') =>
  services.map((service) => `${service}${suffix}.us-east-1.${domain}`);

beforeAll(async () => {
  const entry = join(folder, 'calls.ts');
  writeFileSync(entry, callsOfAllServices);
  writeFileSync(preload, printHosts);
  const built = await buildFunctions({ entries: { calls: entry }, outdir: join(folder, 'bundles') });
  bundle = join(built.folder('calls'), 'index.mjs');
});

test.each([
  ['the default', {}, hosts(['dynamodb', 'search-dynamodb', 'sqs', 'secretsmanager', 'email', 'bedrock-runtime'])],
  [
    'AWS_USE_FIPS_ENDPOINT',
    { AWS_USE_FIPS_ENDPOINT: 'true' },
    hosts(['dynamodb', 'search-dynamodb', 'sqs', 'secretsmanager', 'email', 'bedrock-runtime'], '-fips'),
  ],
  [
    'AWS_USE_DUALSTACK_ENDPOINT',
    { AWS_USE_DUALSTACK_ENDPOINT: 'true' },
    [
      ...hosts(['dynamodb', 'search-dynamodb', 'sqs'], '', 'api.aws'),
      // The default host of Secrets Manager has addresses of both kinds.
      ...hosts(['secretsmanager']),
      ...hosts(['email', 'bedrock-runtime'], '', 'api.aws'),
    ],
  ],
])('functions call the endpoints of the AWS SDK: %s', (_name, variables, called) => {
  const env = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', ...variables };
  const printed = execFileSync(process.execPath, ['--require', preload, bundle], { env, encoding: 'utf8' });
  expect(printed.trim().split('\n')).toEqual(called);
});
