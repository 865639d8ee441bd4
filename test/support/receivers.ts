import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A local server. */
export interface Receiver {
  /** The URL, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Returns the number of connections so far. */
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

/** Starts a receiver that passes raw connections to `onConnection`. */
export function startTcp(onConnection: (socket: Socket) => void): Promise<Receiver> {
  return startServer(
    createServer({ allowHalfOpen: true }, (socket) => {
      // The client may close the connection at any time, which is no failure of the test.
      socket.on('error', () => socket.destroy());
      onConnection(socket);
    }),
    '127.0.0.1',
  );
}

/** Starts an HTTP server. It never closes an idle connection, because a client could be sending the next request. */
export function startHttp(listener: RequestListener, host = '127.0.0.1'): Promise<Receiver> {
  return startServer(createHttpServer({ keepAliveTimeout: 0 }, listener), host);
}

/** Starts a TLS receiver that answers 200 to every chunk of data. */
export function startTls(options: TlsOptions): Promise<Receiver> {
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  });
  return startServer(
    server.on('tlsClientError', () => undefined),
    '127.0.0.1',
  );
}

async function startServer(server: Server, host: string): Promise<Receiver> {
  const open = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  return { url: `http://127.0.0.1:${port}`, port, connections: () => connections, stop };
}
