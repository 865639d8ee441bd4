import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/**
 * Starts a stand-in for Bedrock, which speaks HTTP/2 as the SDK's client does, and points the SDK of this process at it; before its first call, and
 * after `startEngine`. Gives how to stop it.
 */
export async function startBedrock(
  called: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, body: any) => void | Promise<void>,
): Promise<() => Promise<void>> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined).on('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream, headers) => {
    stream.on('error', () => undefined);
    await called(stream, headers, await json(stream));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env.AWS_ENDPOINT_URL_BEDROCK_RUNTIME = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    for (const session of sessions) session.destroy();
    server.close();
    await once(server, 'close');
  };
}
