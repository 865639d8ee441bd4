import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FunctionModel } from '../../../infra/local/assembly/functionModel.ts';
import { functionEnvironment } from '../../../infra/local/functions/functionEnvironment.ts';
import { FunctionPool, type PoolOptions } from '../../../infra/local/functions/functionPool.ts';
import type { ThreadCall } from '../../../infra/local/iam/awsService.ts';
import { localSettings } from '../../../infra/local/settings.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

let codeDir: string;
let pools: FunctionPool[];
let logged: string;
let onLog: () => void;
/** `runs` has the recorded runs. `lines` has the metrics that functions printed. */
let runs: [functionName: string, milliseconds: number | undefined, failed: boolean][];
let lines: object[];

beforeEach(async () => {
  codeDir = await mkdtemp(join(tmpdir(), 'function-'));
  pools = [];
  logged = '';
  runs = [];
  lines = [];
  onLog = () => undefined;
});

afterEach(async () => {
  for (const pool of pools) await pool.close();
  await rm(codeDir, { recursive: true });
});

/** Returns a function with this code. Each loaded copy of the code gets another value of `instance`. */
async function define(name: string, code: string, properties: Partial<FunctionModel> = {}): Promise<FunctionModel> {
  await writeFile(join(codeDir, `${name}.mjs`), `const instance = crypto.randomUUID();\n${code}`);
  return {
    name,
    arn: `arn:${name}`,
    codeDir,
    handler: `${name}.handler`,
    environment: {},
    timeoutSeconds: 300,
    memoryMb: 256,
    statements: [],
    ...properties,
  };
}

function createPool(options: Partial<PoolOptions> = {}): FunctionPool {
  const log = {
    write(chunk: Uint8Array | string) {
      logged += chunk.toString();
      onLog();
    },
    close: async () => undefined,
  };
  const measurements = {
    recordRun: (...run: (typeof runs)[number]) => void runs.push(run),
    recordLine: (line: object) => void lines.push(line),
  };
  const pool = new FunctionPool({
    environmentOf: ({ environment }) => ({ ...environment }),
    observer: { log, measurements },
    aws: { ports: [], call: async () => undefined },
    ...options,
  });
  pools.push(pool);
  return pool;
}

const call = async (pool: FunctionPool, model: FunctionModel, event: unknown = {}) =>
  JSON.parse(await pool.invoke(model, JSON.stringify(event)));
const handler = (body: string) => `export const handler = async (event, context) => { ${body} };`;
const WHO = handler('return instance;');

describe('FunctionPool.invoke', () => {
  test("passes the event, the context and exactly the function's environment", async () => {
    const model = await define(
      'echo',
      handler(
        'const { awsRequestId, getRemainingTimeInMillis, ...rest } = context; return { event, rest, env: process.env, awsRequestId, earlier: Date.now(), left: getRemainingTimeInMillis(), later: Date.now() };',
      ),
      { environment: { TABLE_NAME: 't' } },
    );
    const { event, rest, env, awsRequestId, earlier, left, later, deadline } = await withStillClock(async () => ({
      ...(await call(createPool(), model, { a: 1 })),
      deadline: Date.now() + 300_000,
    }));
    expect(event).toEqual({ a: 1 });
    expect(env).toEqual({ TABLE_NAME: 't' });
    expect(rest).toMatchObject({
      functionName: 'echo',
      invokedFunctionArn: 'arn:echo',
      memoryLimitInMB: '256',
      functionVersion: '$LATEST',
    });
    expect(awsRequestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(left).toBeGreaterThan(200_000);
    expect(earlier).toBeLessThanOrEqual(deadline - left);
    expect(later).toBeGreaterThanOrEqual(deadline - left);
  });

  test('runs parallel calls in one thread', async () => {
    // The first call waits until the second one has begun, so both must run at the same time.
    const model = await define(
      'pair',
      `let first; ${handler('if (!first) { first = Promise.withResolvers(); await first.promise; } else first.resolve(); return instance;')}`,
    );
    const pool = createPool();
    const [a, b] = await Promise.all([call(pool, model), call(pool, model)]);
    expect(a).toBe(b);
  });

  test('fails only the call that throws, logs the error, and measures durations and failures', async () => {
    const model = await define(
      'picky',
      handler(
        'if (event.bad) throw new TypeError("no such thing"); await new Promise((resolve) => setTimeout(resolve, 50)); return instance;',
      ),
    );
    const pool = createPool();
    const before = await call(pool, model);
    await expect(call(pool, model, { bad: true })).rejects.toThrow('TypeError: no such thing');
    expect(await call(pool, model)).toBe(before);
    expect(runs).toEqual([false, true, false].map((failed) => ['picky', expect.any(Number), failed]));
    expect(runs[0]![1]).toBeGreaterThan(45);
    expect(logged).toContain('"function":"picky"');
    expect(logged).toContain('no such thing');
  });

  test.each([
    ['hangs', 'await new Promise(() => {});'],
    ['never gives up the processor', 'for (;;);'],
  ])("ends a call that %s at the function's timeout, and starts a new thread", async (_name, body) => {
    const model = { ...(await define('slow', handler(`if (event.slow) { ${body} } return instance;`))) };
    const pool = createPool();
    const before = await call(pool, model);
    // Only this call gets a short time-out. The others have enough time for a slow machine.
    const { timeoutSeconds } = model;
    model.timeoutSeconds = 0.2;
    await expect(call(pool, model, { slow: true })).rejects.toThrow('Task timed out after 0.2 seconds');
    model.timeoutSeconds = timeoutSeconds;
    expect(await call(pool, model)).not.toBe(before);
  });

  test.each([
    ['throws outside of a call', 'setImmediate(() => { throw new Error("boom"); }); await new Promise(() => {});'],
    ['exits', 'process.exit(3);'],
  ])('fails a call whose thread %s, and starts a new thread', async (_name, body) => {
    const model = await define('fragile', handler(`if (event.die) { ${body} } return instance;`));
    const pool = createPool();
    const before = await call(pool, model);
    await expect(call(pool, model, { die: true })).rejects.toThrow('The thread ended with exit code');
    expect(await call(pool, model)).not.toBe(before);
  });

  test.each([
    ['cannot be loaded', 'throw new Error("broken at import");'],
    ['has no handler', 'export const other = 1;'],
  ])('fails the call of a function that %s', async (_name, code) => {
    await expect(call(createPool(), await define('broken', code))).rejects.toThrow('The thread ended');
    expect(logged).toContain('"message":"The thread crashed"');
    expect(runs).toEqual([['broken', undefined, true]]);
  });

  test("writes a function's output to the log, and passes on the metrics in it", async () => {
    const model = await define(
      'metered',
      handler('console.error("on stderr"); console.log(JSON.stringify({ _aws: {}, Faults: event.faults }));'),
    );
    const pool = createPool();
    const both = new Promise<void>((resolve) => {
      onLog = () => logged.split('"_aws"').length > 2 && logged.includes('on stderr\n') && resolve();
    });
    await call(pool, model, { faults: 1 });
    await call(pool, model, { faults: 2 });
    await both;
    expect(lines).toEqual([
      { _aws: {}, Faults: 1 },
      { _aws: {}, Faults: 2 },
    ]);
  });

  test("sends the function's AWS calls to this process, and no other requests", async () => {
    const model = await define(
      'caller',
      `import { createServer, request } from 'node:http';
      const send = (port, key) => new Promise((resolve, reject) => {
        const authorization = \`AWS4-HMAC-SHA256 Credential=\${key}/20260101/us-east-1/sqs/aws4_request\`;
        const headers = { authorization, 'x-amz-target': 'AmazonSQS.SendMessage' };
        const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/', headers }, async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          resolve([response.statusCode, text]);
        });
        sent.on('error', (error) => resolve(error.code));
        sent.end('{"a":"ü"}');
      });
      ${handler('return send(event.port, event.key);')}`,
      { environment: { AWS_ACCESS_KEY_ID: 'LOCAL1' } },
    );
    const other = createServer((_request, response) => response.writeHead(404).end('other')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const calls: unknown[] = [];
    const pool = createPool({
      aws: {
        ports: [port, 2],
        async call({ name }, made: ThreadCall) {
          calls.push([name, made]);
          return made.port === port ? { status: 400, body: '{"ö":1}' } : undefined;
        },
      },
    });
    const made = (port: number) => ({
      port,
      method: 'POST',
      path: '/',
      target: 'AmazonSQS.SendMessage',
      body: '{"a":"ü"}',
    });
    try {
      expect(await call(pool, model, { port, key: 'LOCAL1' })).toEqual([400, '{"ö":1}']);
      expect(await call(pool, model, { port: 2, key: 'LOCAL1' })).toBe('ECONNREFUSED');
      expect(await call(pool, model, { port, key: 'LOCAL12' })).toEqual([404, 'other']);
      expect(calls).toEqual([
        ['caller', made(port)],
        ['caller', made(2)],
      ]);
    } finally {
      other.close();
    }
  });

  test.each([
    ['blocks its thread', 'for (;;);'],
    ['crashes its thread', 'queueMicrotask(() => { throw new Error("crash"); }); await new Promise(() => {});'],
  ])('writes the output of a call that then %s', async (_name, body) => {
    const lastLine = `process.stdout.write(Buffer.from("last line\\n")); ${body}`;
    const model = { ...(await define('last', handler(`if (event.end) { ${lastLine} }`))) };
    const pool = createPool();
    await call(pool, model);
    model.timeoutSeconds = 0.2;
    await expect(call(pool, model, { end: true })).rejects.toThrow();
    expect(logged).toContain('last line\n');
  });
});

describe('FunctionPool.invokeExclusively', () => {
  const alone = async (pool: FunctionPool, model: FunctionModel, event: unknown = {}) =>
    JSON.parse(await pool.invokeExclusively(model, JSON.stringify(event)));
  /** The code of a function. It reports the start of each call, which then lasts until the test ends it. */
  const SLOW = `import { BroadcastChannel } from 'node:worker_threads';
    export const handler = (event) => new Promise((resolve) => {
      const channel = new BroadcastChannel(event.channel);
      channel.onmessage = ({ data }) => {
        if (data !== 'end') return;
        channel.close();
        resolve(instance);
      };
      channel.postMessage('begun');
    });`;
  let channel: BroadcastChannel;
  let begun: number;
  let onBegun: () => void;
  const event = () => ({ channel: channel.name });
  beforeEach(() => {
    channel = new BroadcastChannel(randomUUID());
    begun = 0;
    onBegun = () => undefined;
    channel.onmessage = ({ data }) => {
      if (data === 'begun') begun++;
      onBegun();
    };
  });
  afterEach(() => channel.close());
  const whenBegun = (count: number) =>
    new Promise<void>((resolve) => {
      onBegun = () => void (begun === count && resolve());
      onBegun();
    });

  test('runs parallel calls in different instances of the function', async () => {
    const model = await define('slow', SLOW);
    const pool = createPool();
    const calls = [1, 2, 3].map(() => alone(pool, model, event()));
    await whenBegun(3);
    channel.postMessage('end');
    expect(new Set(await Promise.all(calls)).size).toBe(3);
  });

  test('loads no second instance while the first one is loading', async () => {
    const model = await define('quick', `await new Promise((resolve) => setTimeout(resolve, 200));\n${WHO}`);
    // The patience is longer than by default, for a slow machine.
    const pool = createPool({ patienceMilliseconds: 60_000 });
    const instances = await Promise.all(times(10, () => alone(pool, model)));
    expect(new Set(instances).size).toBe(1);
  });

  test('loads no fifth instance while the first four wait for AWS', async () => {
    const model = await define(
      'busy',
      `import { request } from 'node:http';
      export const handler = () => new Promise((resolve, reject) => {
        const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=LOCAL1/20260101' };
        const sent = request({ host: '127.0.0.1', port: 2, method: 'POST', path: '/', headers }, () => resolve(instance));
        sent.on('error', reject);
        sent.end();
      });`,
      { environment: { AWS_ACCESS_KEY_ID: 'LOCAL1' } },
    );
    let startAnswering: () => void;
    const answer = new Promise<void>((resolve) => {
      startAnswering = resolve;
    });
    let calls = 0;
    const pool = createPool({
      patienceMilliseconds: 75,
      aws: {
        ports: [2],
        async call() {
          // The pool would load a fifth instance after 300 ms.
          if (++calls === 4) setTimeout(startAnswering, 600);
          await answer;
          return { status: 200, body: '{}' };
        },
      },
    });
    const instances = await Promise.all(times(12, () => alone(pool, model)));
    expect(new Set(instances).size).toBe(4);
  });

  test('waits at the limit of instances, but gives every function at least one instance', async () => {
    const [worker, other, api] = [await define('worker', SLOW), await define('other', WHO), await define('api', WHO)];
    const pool = createPool({ maxLive: 3, maxInstances: 1 });
    const instances: unknown[] = [];
    const busy = [1, 2].map(() => alone(pool, worker, event()).then((instance) => instances.push(instance)));
    await Promise.all([alone(pool, other), call(pool, api), whenBegun(1)]);
    expect([begun, instances]).toEqual([1, []]);
    channel.postMessage('end');
    await whenBegun(2);
    channel.postMessage('end');
    await Promise.all(busy);
    expect(new Set(instances).size).toBe(1);
  });

  test('fails a waiting call when the pool is closed', async () => {
    const model = await define('endless', SLOW);
    const pool = createPool({ maxInstances: 1 });
    const calls = [1, 2].map(() => alone(pool, model, event()).catch((error: unknown) => (error as Error).message));
    await whenBegun(1);
    await pool.close();
    expect(await Promise.all(calls)).toEqual(['The thread ended with exit code 1', 'The functions are being stopped']);
  });
});

describe('the threads of a FunctionPool', () => {
  test('end when idle', async () => {
    const model = await define('idle', WHO);
    const pool = createPool({ idleMilliseconds: 20 });
    const before = await call(pool, model);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await call(pool, model)).not.toBe(before);
  });

  test('end at the limit of threads, the one that was idle longest first', async () => {
    const [a, b, c] = [await define('a', WHO), await define('b', WHO), await define('c', WHO)];
    const pool = createPool({ maxLive: 2 });
    const first = await call(pool, a);
    const second = await call(pool, b);
    expect(await call(pool, a)).toBe(first);
    await call(pool, c);
    expect(await call(pool, a)).toBe(first);
    expect(await call(pool, b)).not.toBe(second);
  });

  test('make a call wait if all of them are busy', async () => {
    const names = times(12, (i) => `f${i}`);
    const models = await Promise.all(
      names.map((name) =>
        define(name, handler('await new Promise((r) => setTimeout(r, 5)); return context.functionName;')),
      ),
    );
    const pool = createPool({ maxLive: 2 });
    expect(await Promise.all([...models, ...models].map((model) => call(pool, model)))).toEqual([...names, ...names]);
  });
});

test('the environment differs from the template only in overrides, AWS endpoints, webhooks to this machine and strict output', async () => {
  const environment = {
    SERVICE_NAME: 'svc',
    TABLE_NAME: 't',
    WEBHOOK_RETRY_SCHEDULE: '0,5',
    DUE_MARGIN_SECONDS: '300',
    RECONCILE_AFTER_SECONDS: '180',
    MAIL_RETRY_SCHEDULE: '0,60',
  };
  const model = await define('any', WHO, { environment });
  const aws = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
  };
  const fromStart = {
    WEBHOOK_RETRY_SCHEDULE: '0,1',
    DUE_MARGIN_SECONDS: '1',
    RECONCILE_AFTER_SECONDS: '2',
    MAIL_RETRY_SCHEDULE: '0,3',
  };
  const { environmentOverrides } = localSettings({
    ...fromStart,
    TABLE_NAME: 'another',
    ALLOW_LOOPBACK_DELIVERY: 'false',
    HOME: '/nowhere',
  });
  const lambda = {
    ALLOW_LOOPBACK_DELIVERY: 'true',
    STRICT_OUTPUT: 'true',
    AWS_LAMBDA_FUNCTION_NAME: 'any',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
  expect(functionEnvironment(model, { SERVICE_NAME: 'acme', ...environmentOverrides }, aws)).toEqual({
    SERVICE_NAME: 'acme',
    TABLE_NAME: 't',
    ...fromStart,
    ...aws,
    ...lambda,
  });
  expect(functionEnvironment(model, {}, aws)).toEqual({ ...environment, ...aws, ...lambda });
  expect(
    functionEnvironment({ ...model, environment: {} }, { SERVICE_NAME: 'acme', ...environmentOverrides }, {}),
  ).toEqual(lambda);
});
