import { execFile } from 'node:child_process';
import { type LookupFunction, Socket } from 'node:net';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import * as tls from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { AttemptResult } from '../../../lib/webhooks/rules/outcome.ts';
import { isInternalError, toFailure } from '../../../lib/webhooks/transport/failures.ts';
import { createWebhookClient } from '../../../lib/webhooks/transport/send.ts';
import { sendRequest } from '../../../lib/webhooks/transport/sendRequest.ts';
import { selfSigned } from '../../support/certificates.ts';
import { startDns, type Zone } from '../../support/dnsServer.ts';
import { type Receiver, startHttp, startTcp, startTls } from '../../support/receivers.ts';

const running: { stop: () => unknown }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((resource) => resource.stop()));
});

async function stopAfterTest<T extends { stop: () => unknown }>(started: Promise<T>): Promise<T> {
  const resource = await started;
  running.push(resource);
  return resource;
}

const NO_NAMES: Zone = () => 'NXDOMAIN';

/**
 * Returns a client's function `post`, and the DNS queries of the client. The client looks up names in this zone only.
 */
async function newClient(zone: Zone = NO_NAMES, { allowLoopback = false } = {}) {
  const { resolver, queries } = await stopAfterTest(startDns(zone));
  const client = createWebhookClient({ allowLoopback }, { resolver });
  return {
    queries,
    post: (url: string, timeoutMs = 60_000): Promise<AttemptResult> =>
      client.post({ url, headers: {}, body: '{}', timeoutMs }),
  };
}

/** Starts a receiver on all loopback addresses. It answers with the address on which it was reached. */
function receiver(): Promise<Receiver> {
  return stopAfterTest(startHttp((request, response) => response.end(request.socket.localAddress), '::'));
}

const reachedAt = ({ responseBody }: AttemptResult) =>
  Buffer.from(responseBody ?? [])
    .toString()
    .replace('::ffff:', '');
const NOT_ALLOWED = { outcome: 'refused', error: 'address not allowed' };

describe('WebhookClient refuses without any connection', () => {
  let target: Receiver;
  beforeAll(async () => {
    target = await startHttp((_request, response) => response.end(), '::');
  });
  afterAll(() => target.stop());

  // The unit test of the address policy has every kind of address in every spelling.
  test.each([
    '127.0.0.1',
    '0x7f.1',
    '①②⑦.0.0.1',
    'a.localhost.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '[64:ff9b::a9fe:a9fe]',
    '10.0.0.1',
  ])('the private address %s, with any protocol and userinfo', async (host) => {
    const { post, queries } = await newClient();
    for (const start of ['http://', 'https://', 'http://user:pass@', 'http://example.com:80@']) {
      const url = `${start}${host}:${target.port}/`;
      expect([url, await post(url)]).toEqual([url, { ...NOT_ALLOWED, durationMs: expect.any(Number) }]);
    }
    expect([queries, target.connections()]).toEqual([[], 0]);
  });

  test('a host name that only looks public', async () => {
    const { post } = await newClient();
    for (const url of [
      `http://127.0.0.1:${target.port}#@example.com/`,
      `http://127.0.0.1:${target.port}?@example.com/`,
      `http://example.com%40@127.0.0.1:${target.port}/`,
    ]) {
      expect([url, await post(url)]).toMatchObject([url, NOT_ALLOWED]);
    }
    expect(target.connections()).toBe(0);
  });

  test.each([
    'example.com',
    'http:\\\\127.0.0.1/',
    'http://example.com\\@127.0.0.1/',
    'http://[127.0.0.1]/',
    'http://a..b/',
  ])('%j, which is not an http(s) URL', async (url) => {
    const { post, queries } = await newClient();
    const { outcome, error } = await post(url);
    // A backslash ends the host. In these URLs, the text before it is a normal host name, which does not exist.
    expect([outcome, error]).toEqual(
      url.includes('\\@') ? ['failed', 'DNS: name not found'] : ['refused', 'URL not valid'],
    );
    expect(queries.filter((query) => !query.endsWith('example.com'))).toEqual([]);
  });

  test('the same URL again', async () => {
    const { post, queries } = await newClient(() => ['10.0.0.1']);
    for (let i = 0; i < 2; i++) {
      expect(await post('http://127.0.0.1:1/')).toMatchObject({ outcome: 'refused', error: 'port not allowed' });
      expect(await post(`http://127.0.0.1:${target.port}/`)).toMatchObject(NOT_ALLOWED);
      expect(await post('not a URL')).toMatchObject({ outcome: 'refused', error: 'URL not valid' });
      expect(await post(`http://hooks.example:${target.port}/`)).toMatchObject(NOT_ALLOWED);
    }
    // The addresses of a name are not kept.
    expect(queries).toHaveLength(4);
    expect(target.connections()).toBe(0);
  });

  test.each([22, 25, 6000, 6667, 10080])('port %i, which the Fetch standard blocks', async (port) => {
    const { post } = await newClient(undefined, { allowLoopback: true });
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ outcome: 'refused', error: 'port not allowed' });
  });
});

describe('a host name of a webhook URL', () => {
  test.each([
    '10.1.2.3',
    '::ffff:7f00:1',
    '8.8.8.8 127.0.0.1',
    '127.0.0.1 8.8.8.8',
    '8.8.8.8 8.8.4.4 10.0.0.1',
    '8.8.8.8 ::1',
    '2606:4700::1111 192.168.0.1',
  ])('is refused because of one address if it resolves to %s', async (addresses) => {
    const target = await receiver();
    const { post } = await newClient(() => addresses.split(' '));
    expect(await post(`http://hooks.example:${target.port}/`)).toEqual({
      ...NOT_ALLOWED,
      durationMs: expect.any(Number),
    });
    expect(target.connections()).toBe(0);
  });

  test.each([
    ['does not resolve', 'NXDOMAIN', 'DNS: name not found'],
    ['has no addresses', [], 'DNS: name not found'],
    ['has a server that fails', 'SERVFAIL', 'DNS: lookup failed'],
    ['has a server that refuses', 'REFUSED', 'DNS: lookup failed'],
  ] as const)('causes a failure if it %s', async (_what, answer, error) => {
    const { post } = await newClient(() => answer);
    expect(await post('http://broken.example/')).toMatchObject({ outcome: 'failed', error });
  });

  test('causes a timeout before the attempt ends if its DNS server does not answer', async () => {
    const { post } = await newClient(() => 'silence');
    expect(await post('http://silent.example/')).toMatchObject({ outcome: 'timeout', error: 'DNS: no answer in time' });
    expect(await post('http://silent.example/', 100)).toMatchObject({
      outcome: 'timeout',
      error: 'connection not made in time',
    });
  });

  test('is reached if it has only one kind of address', async () => {
    const target = await receiver();
    for (const zone of [
      (_name: string, type: string) => (type === 'A' ? ['127.0.0.1'] : 'SERVFAIL'),
      (_name: string, type: string) => (type === 'AAAA' ? ['::1'] : 'NXDOMAIN'),
    ] as Zone[]) {
      const { post } = await newClient(zone, { allowLoopback: true });
      expect((await post(`http://half.example:${target.port}/`)).outcome).toBe('delivered');
    }
  });

  test('is looked up once per connection, and the socket connects to the checked address', async () => {
    const target = await receiver();
    const { post, queries } = await newClient(() => ['127.0.0.7'], { allowLoopback: true });
    expect(reachedAt(await post(`http://seven.example:${target.port}/`))).toBe('127.0.0.7');
    expect(reachedAt(await post(`http://seven.example:${target.port}/`))).toBe('127.0.0.7');
    expect(queries.sort()).toEqual(['A seven.example', 'AAAA seven.example']);
  });

  test('is checked for each connection if its addresses change', async () => {
    const target = await receiver();
    const answers = ['127.0.0.2', '169.254.169.254', '127.0.0.3', '10.0.0.1'];
    let queryCount = 0;
    // The names have no IPv6 addresses. Each lookup is therefore counted by its one query for IPv4 addresses.
    const { post } = await newClient(
      (_name, type) => (type === 'A' ? [answers[queryCount++ % answers.length] ?? ''] : []),
      {
        allowLoopback: true,
      },
    );
    // A client keeps its connection to a host, so each lookup needs another host name.
    const outcomes: string[] = [];
    for (let i = 0; i < 4; i++) {
      const sent = await post(`http://rebind-${i}.example:${target.port}/`);
      outcomes.push(sent.outcome === 'delivered' ? reachedAt(sent) : (sent.error ?? ''));
    }
    expect(outcomes).toEqual(['127.0.0.2', 'address not allowed', '127.0.0.3', 'address not allowed']);
    expect(queryCount).toBe(4);
  });

  test('has two seconds to answer at one address, because a host on another continent needs more than 250 ms', async () => {
    const connect = jest.spyOn(Socket.prototype, 'connect');
    const target = await receiver();
    const { post } = await newClient(() => ['127.0.0.1', '::1'], { allowLoopback: true });
    await post(`http://dual.test:${target.port}/`);
    await post(`https://dual.test:${target.port}/`);
    const options = connect.mock.calls.map(([first]) => [first].flat(2)[0]);
    connect.mockRestore();
    const ofWebhooks = options.filter((each) => (each as { host?: string }).host === 'dual.test');
    expect(ofWebhooks).toEqual([
      expect.objectContaining({ autoSelectFamilyAttemptTimeout: 2_000 }),
      expect.objectContaining({ autoSelectFamilyAttemptTimeout: 2_000 }),
    ]);
  });

  test('is reached at its second address when the first does not answer', async () => {
    const target = await stopAfterTest(
      startHttp((request, response) => response.end(request.socket.localAddress), '127.0.0.5'),
    );
    const { post } = await newClient(() => ['127.0.0.4', '127.0.0.5'], { allowLoopback: true });
    expect(reachedAt(await post(`http://two.example:${target.port}/`))).toBe('127.0.0.5');
    await target.stop();
    expect(await post(`http://two.example:${target.port}/`)).toMatchObject({
      outcome: 'failed',
      error: 'connection refused',
    });
  });
});

describe('a webhook client that allows loopback', () => {
  test('reaches loopback in every spelling, and local names without DNS', async () => {
    const target = await receiver();
    const { post, queries } = await newClient(NO_NAMES, { allowLoopback: true });
    for (const host of ['127.0.0.1', '127.1', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'a.localhost']) {
      expect([host, (await post(`http://${host}:${target.port}/`)).outcome]).toEqual([host, 'delivered']);
    }
    expect(queries).toEqual([]);
  });

  test('refuses a name with a loopback address and a private address', async () => {
    const { post } = await newClient(() => ['127.0.0.1', '10.0.0.1'], { allowLoopback: true });
    expect(await post('http://mixed.example/')).toMatchObject(NOT_ALLOWED);
  });
});

describe('a webhook request over TLS', () => {
  const trusted = selfSigned('good.example');
  const old = selfSigned('old.example', { notAfter: new Date(Date.UTC(2021, 0)) });
  const before = tls.getCACertificates('default');
  beforeAll(() => tls.setDefaultCACertificates([...before, trusted.cert, old.cert]));
  afterAll(() => tls.setDefaultCACertificates(before));

  /** Starts a TLS receiver. Returns its port. */
  const secure = async (options: TlsOptions) => (await stopAfterTest(startTls(options))).port;
  const everywhere: Zone = (_name, type) => (type === 'A' ? ['127.0.0.1'] : []);

  test('is delivered to a receiver with a valid certificate, and keeps the connection', async () => {
    const port = await secure(trusted);
    const { post, queries } = await newClient(everywhere, { allowLoopback: true });
    for (let i = 0; i < 3; i++) expect((await post(`https://good.example:${port}/`)).outcome).toBe('delivered');
    expect(queries).toHaveLength(2);
  });

  test.each([
    [
      'with a self-signed certificate',
      () => secure(selfSigned('good.example')),
      'good.example',
      'TLS: depth zero self signed certificate',
    ],
    ['that has expired', () => secure(old), 'old.example', 'TLS: certificate has expired'],
    ['of another host', () => secure(trusted), 'other.example', 'TLS: certificate altname invalid'],
    [
      'with an old protocol',
      () => secure({ ...trusted, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
      'good.example',
      /^TLS: \w/,
    ],
    ['without a certificate', () => secure({}), 'good.example', /^TLS: \w/],
  ])('fails for a receiver %s', async (_what, start, name, error) => {
    const port = await start();
    const { post } = await newClient(everywhere, { allowLoopback: true });
    const sent = await post(`https://${name}:${port}/`);
    expect(sent.outcome).toBe('failed');
    expect(sent.error).toMatch(error);
  });

  test('fails for a receiver without TLS', async () => {
    const target = await stopAfterTest(startTcp((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')));
    const { post } = await newClient(everywhere, { allowLoopback: true });
    expect((await post(`https://good.example:${target.port}/`)).error).toMatch(/^TLS: \w/);
  });

  test('causes a timeout for a receiver that stops during the handshake', async () => {
    const target = await stopAfterTest(startTcp((socket) => socket.resume()));
    const { post } = await newClient(everywhere, { allowLoopback: true });
    expect(await post(`https://good.example:${target.port}/`, 200)).toMatchObject({
      outcome: 'timeout',
      error: 'connection not made in time',
    });
  });
});

describe('toFailure', () => {
  const failureOf = (code?: string) =>
    toFailure(Object.assign(new Error('at 10.0.0.1: said by the receiver'), { code }));

  test.each([
    ['CERT_HAS_EXPIRED', 'TLS: certificate has expired'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'TLS: self signed certificate in chain'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TLS: unable to verify leaf signature'],
    ['HOSTNAME_MISMATCH', 'TLS: hostname mismatch'],
    ['INVALID_CA', 'TLS: invalid ca'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'TLS: certificate altname invalid'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'TLS: tlsv1 alert internal error'],
    ['EPROTO', 'TLS: handshake failed'],
    ['ENETUNREACH', 'no route to the host'],
    ['DNS_ESERVFAIL', 'DNS: lookup failed'],
    ['HPE_INVALID_CONSTANT', 'answer is not HTTP/1.1'],
    ['ERR_SOMETHING', 'connection failed'],
    [undefined, 'connection failed'],
  ])('names the failure for code %s: %s', (code, error) => {
    expect(failureOf(code)).toEqual({ outcome: 'failed', error });
  });

  test('isInternalError returns true for a lack of file descriptors or memory, but not for network errors', () => {
    expect(
      ['EMFILE', 'ENOMEM', 'ECONNRESET', 'EADDRNOTAVAIL', undefined].map((code) =>
        isInternalError(Object.assign(new Error(), { code })),
      ),
    ).toEqual([true, true, false, false, false]);
  });

  test('throws internal errors', async () => {
    const fault = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    const prepared = {
      secure: false,
      body: '{}',
      options: {
        method: 'POST',
        hostname: 'files.example',
        lookup: ((_name, _options, callback) => callback(fault, '')) as LookupFunction,
      },
    };
    await expect(sendRequest(prepared, { agent: false, timeoutMs: 1_000, now: Date.now })).rejects.toBe(fault);
  });
});

describe('the environment variables of the process', () => {
  const variables = {
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_USE_ENV_PROXY: '1',
    NODE_OPTIONS: '--insecure-http-parser --tls-min-v1.0 --no-warnings',
  };

  /** Posts in a new process whose environment has `variables` and a proxy. Returns the result. */
  async function postElsewhere(url: string, proxy: string): Promise<AttemptResult> {
    const script = `
      const { createWebhookClient } = await import(${JSON.stringify(join(import.meta.dirname, '../../../lib/webhooks/transport/send.ts'))});
      const sent = await createWebhookClient({ allowLoopback: true }).post({ url: ${JSON.stringify(url)}, headers: {}, body: '{}', timeoutMs: 5000 });
      console.log(JSON.stringify(sent));`;
    const env = { PATH: process.env.PATH, ...variables, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy };
    return JSON.parse(
      (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })).stdout,
    ) as AttemptResult;
  }

  test('neither redirect requests nor weaken their checks', async () => {
    const [proxy, target, lax] = await Promise.all([
      receiver(),
      receiver(),
      stopAfterTest(
        startTcp((socket) =>
          socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n')),
        ),
      ),
    ]);
    const unknown = await stopAfterTest(startTls(selfSigned('localhost')));
    const errors = await Promise.all(
      [target.url, `https://localhost:${unknown.port}/`, lax.url].map(
        async (url) => (await postElsewhere(url, proxy.url)).error,
      ),
    );
    expect(errors).toEqual([undefined, 'TLS: depth zero self signed certificate', 'answer is not HTTP/1.1']);
    expect([proxy.connections(), target.connections()]).toEqual([0, 1]);
  });
});
