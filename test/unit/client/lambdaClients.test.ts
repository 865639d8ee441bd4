import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as secretsSdk from '@aws-sdk/client-secrets-manager';
import * as sqsSdk from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { lambdaConfig } from '../../../infra/build/lambdaAws.ts';
import * as secretsBundled from '../../../infra/build/lambdaSecretsManager.ts';
import * as sqsBundled from '../../../infra/build/lambdaSqs.ts';
import { times } from '../../support/times.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly url: string | undefined;
  readonly body: string;
}

const environment = { ...process.env };
let server: Server;
let received: Received[];
let answer: readonly [status: number, body: string] | 'hang';

beforeEach(async () => {
  received = [];
  server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, url: request.url, body });
      if (answer !== 'hang') response.writeHead(answer[0]).end(answer[1]);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'session',
    AWS_ENDPOINT_URL_SQS: url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
    // The SDK sends the trace header only in Lambda.
    AWS_LAMBDA_FUNCTION_NAME: 'RunJobs',
    _X_AMZN_TRACE_ID: trace,
  });
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  process.env = { ...environment };
});

/** A client of the SDK, or its replacement in bundles. It has the settings of the service. */
interface Client {
  send(command: unknown, options?: { abortSignal: AbortSignal }): Promise<any>;
  destroy(): void;
}

/** The trace header of an invocation. Lambda counts the invocations of a chain in `Lineage`. */
const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0;Lineage=a87bd80c:3';
const QueueUrl = 'https://sqs.eu-west-1.amazonaws.com/1/jobs';
const Entries = [
  { Id: '0', MessageBody: '{"a":"Ünïcode"}', MessageGroupId: 'g' },
  { Id: '1', MessageBody: '2', DelaySeconds: 3 },
];
const md5 = 'c81e728d9d4c2f636f067f89cc14862c';
const sent = { Successful: [{ Id: '1', MessageId: 'm', MD5OfMessageBody: md5 }], Failed: [{ Id: '0', Code: 'Busy' }] };

describe.each([
  [
    'SendMessageBatch of SQS',
    () => new sqsSdk.SQSClient({ useQueueUrlAsEndpoint: false }),
    () => new sqsBundled.SQSClient(),
    (module: typeof sqsSdk) => new module.SendMessageBatchCommand({ QueueUrl, Entries }),
    sent,
  ],
  [
    'GetQueueAttributes of SQS',
    () => new sqsSdk.SQSClient({ useQueueUrlAsEndpoint: false }),
    () => new sqsBundled.SQSClient(),
    (module: typeof sqsSdk) =>
      new module.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
    { Attributes: { ApproximateNumberOfMessages: '7' } },
  ],
  [
    'GetSecretValue of Secrets Manager',
    () => new secretsSdk.SecretsManagerClient({}),
    () => new secretsBundled.SecretsManagerClient(),
    (_module: unknown, secrets: typeof secretsSdk) => new secrets.GetSecretValueCommand({ SecretId: 'arn' }),
    { SecretString: '{"current":"1"}' },
  ],
] as const)('%s in bundles', (_what, openSdk, openBundled, command, result) => {
  const both = (): [Client, unknown][] => [
    [openSdk(), command(sqsSdk, secretsSdk)],
    [openBundled(), command(sqsBundled as unknown as typeof sqsSdk, secretsBundled as unknown as typeof secretsSdk)],
  ];

  test('sends the same request as the SDK and returns the same result', async () => {
    answer = [200, JSON.stringify(result)];
    const results = [];
    for (const [client, request] of both()) {
      const { $metadata: _, ...output } = await client.send(request);
      results.push(output);
      client.destroy();
    }
    expect(results).toEqual([result, result]);
    const essence = ({ headers, url, body }: Received) => [
      url,
      headers['x-amz-target'],
      headers['content-type'],
      headers['x-amzn-trace-id'],
      JSON.parse(body),
      /\/eu-west-1\/(\w+)\/aws4_request/.exec(headers.authorization ?? '')?.[1],
    ];
    expect(essence(received[1]!)).toEqual(essence(received[0]!));
  });

  test('throws an error with the error name of AWS, without a retry', async () => {
    answer = [400, JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: 'No' })];
    const [, [client, request]] = both() as [unknown, [Client, unknown]];
    await expect(client.send(request)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: 'No',
      $metadata: { httpStatusCode: 400, attempts: 1 },
    });
    client.destroy();
  });
});

describe('the connections in bundles', () => {
  test('end a call that is aborted', async () => {
    answer = 'hang';
    const client = new secretsBundled.SecretsManagerClient();
    const command = new secretsBundled.GetSecretValueCommand({ SecretId: 'arn' });
    const call = client.send(command, { abortSignal: AbortSignal.timeout(50) });
    await expect(call).rejects.toMatchObject({ name: 'AbortError', $metadata: { attempts: 1 } });
    client.destroy();
  });

  test('stay open for the next call', async () => {
    answer = [200, '{}'];
    let connections = 0;
    server.on('connection', () => (connections += 1));
    const client = new sqsBundled.SQSClient();
    for (let call = 0; call < 3; call++) await client.send(new sqsBundled.GetQueueAttributesCommand({ QueueUrl }));
    expect(connections).toBe(1);
    client.destroy();
  });
});

describe('the endpoint in bundles', () => {
  test.each(['eu-west-1', 'us-gov-west-1', 'cn-north-1', 'eusc-de-east-1'])(
    'in %s is the same as in the SDK',
    async (region) => {
      process.env.AWS_REGION = region;
      delete process.env.AWS_ENDPOINT_URL_SQS;
      const parameters = { Region: region, UseFIPS: false, UseDualStack: false };
      const { url } = new sqsSdk.SQSClient({ region }).config.endpointProvider(parameters);
      expect(String(await lambdaConfig('sqs', {}).url())).toBe(String(url));
    },
  );
});

describe('the retries in bundles', () => {
  test('stop when the retry budget is used up, and continue after a success', async () => {
    const strategy = await lambdaConfig('sqs', { maxAttempts: 100 }).retryStrategy();
    const error = { error: new Error('No'), errorType: 'TRANSIENT' } as const;
    const initial = await strategy.acquireInitialRetryToken('');
    const outcomes = await Promise.allSettled(times(40, () => strategy.refreshRetryTokenForRetry(initial, error)));
    // The retry budget is 500, and each retry costs 14.
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(35);
    const [first] = outcomes as PromiseFulfilledResult<typeof initial>[];
    strategy.recordSuccess(first!.value);
    await expect(strategy.refreshRetryTokenForRetry(initial, error)).resolves.toBeDefined();
  });
});
