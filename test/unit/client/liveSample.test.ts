import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';

const page = readFileSync(join(projectDir, 'functions/LIVE.md'), 'utf8');
const sample = [...page.matchAll(/```js\n(.*?)```/gs)]
  .map(([, text]) => text!)
  .find((text) => text.includes('WebSocket'))!;
const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...values: unknown[]) => Promise<void>;

/** The part of a browser's WebSocket that the sample uses. */
class FakeSocket {
  static last: FakeSocket;
  readonly sent: { readonly type: string; readonly id?: string }[] = [];
  onopen!: () => void;
  onmessage!: (event: { data: string }) => Promise<void>;

  constructor() {
    FakeSocket.last = this;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  receive(message: object): Promise<void> {
    return this.onmessage({ data: JSON.stringify(message) });
  }
}

test('the sample of the push protocol on the page Live applies events in order, after it has read the document', async () => {
  const applied: unknown[] = [];
  const reading = Promise.withResolvers<undefined>();
  const channels = { document: '/d', awareness: '/a', user: '/u' };
  const connection = { url: 'wss://push', host: 'push', token: 'token', channels };
  const variables = {
    organizationId: 'acme',
    documentId: 'nda',
    call: () => Promise.resolve({ data: connection }),
    WebSocket: FakeSocket,
    readDocument: () => reading.promise,
    apply: (event: unknown) => applied.push(event),
  };
  await new AsyncFunction(...Object.keys(variables), sample)(...Object.values(variables));
  const socket = FakeSocket.last;
  socket.onopen();
  expect(socket.sent.map(({ type, id }) => [type, id])).toEqual([
    ['connection_init', undefined],
    ...Object.keys(channels).map((id) => ['subscribe', id]),
  ]);

  await socket.receive({ type: 'connection_ack' });
  await socket.receive({ type: 'subscribe_success', id: 'document' });
  await socket.receive({ type: 'data', id: 'document', event: ['{"version":1}'] });
  await socket.receive({ type: 'subscribe_success', id: 'awareness' });
  const read = socket.receive({ type: 'subscribe_success', id: 'user' });
  await socket.receive({ type: 'data', id: 'document', event: '{"version":2}' });
  expect(applied).toEqual([]);
  reading.resolve(undefined);
  await read;
  await socket.receive({ type: 'data', id: 'document', event: '{"version":3}' });
  expect(applied).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }]);
});

test('the samples of the page Live throw if the server that makes tokens answers with an error', async () => {
  const samples = [...page.matchAll(/const token = (async .*?\n *\});?\n/gs)].map(([, text]) => text!);
  expect(samples).toHaveLength(2);
  for (const text of samples) {
    const tokenOf = (status: number) =>
      new AsyncFunction('fetch', `return (${text})()`)(() => Promise.resolve(new Response('Bad Gateway', { status })));
    await expect(tokenOf(502)).rejects.toThrow('No token: HTTP 502');
    await expect(tokenOf(200)).resolves.toBe('Bad Gateway');
  }
});
