import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { enginePorts, freeAddress } from '../../../infra/local/table/engineAddress.ts';

test('web pages may call no port of a table engine, by the Fetch standard', async () => {
  for (const port of enginePorts) {
    const refusal = await fetch(`http://127.0.0.1:${port}`).catch((error: unknown) => (error as Error).cause);
    expect([port, String(refusal)]).toEqual([port, 'Error: bad port']);
  }
});

test('the address of a table engine is a random one of this machine, with a port of the list', async () => {
  const addresses = await Promise.all(Array.from({ length: 8 }, () => freeAddress()));
  for (const { host, port, url } of addresses) {
    expect(host).toMatch(/^127(\.\d{1,3}){3}$/);
    expect(enginePorts).toContain(port);
    expect(url).toBe(`http://${host}:${port}`);
  }
  // Other systems have the address 127.0.0.1 only.
  if (process.platform === 'linux') expect(new Set(addresses.map(({ host }) => host)).size).toBe(8);
});

test('an engine gets 127.0.0.1 where the system has no other address', async () => {
  const { host, port } = await freeAddress({ randomHost: () => '192.0.2.1' });
  expect(host).toBe('127.0.0.1');
  expect(enginePorts).toContain(port);
});

test.each([
  ['a taken port is passed over', {}],
  ['a port that is taken at one address is passed over for an engine that listens at all', { isEverywhere: true }],
])('%s', async (_title, options) => {
  const randomHost = () => '127.86.0.1';
  const taken = createServer();
  const { port } = await freeAddress({ randomHost });
  taken.listen(port, randomHost());
  await once(taken, 'listening');
  try {
    // Each call begins at a random port.
    for (let i = 0; i < 100; i++) expect((await freeAddress({ ...options, randomHost })).port).not.toBe(port);
  } finally {
    taken.close();
  }
});
