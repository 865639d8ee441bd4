/** A webhook receiver in its own process. `receivers.ts` starts it and reads the received requests. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Came } from './receivers.ts';

const received = new Map<string, { times: Map<string, number>; requests: number }>();
let recovered = false;

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const path = request.url ?? '';
  let here = received.get(path);
  if (!here) received.set(path, (here = { times: new Map(), requests: 0 }));
  here.requests++;
  const id = request.headers['webhook-id'];
  request.resume().on('end', () => {
    if (path.startsWith('/hang')) return;
    const fails = path.startsWith('/fail') && !recovered;
    if (!fails && typeof id === 'string' && !here.times.has(id)) here.times.set(id, at);
    response.writeHead(fails ? 500 : 200, { 'content-length': 0 }).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', (asked) => {
  if (asked === 'recover') recovered = true;
  if (asked === 'clear') received.clear();
  process.send?.(
    Object.fromEntries(
      [...received].map(([path, { times, requests }]): [string, Came] => [
        path,
        { times: Object.fromEntries(times), requests },
      ]),
    ),
  );
});
// The receiver ends with its parent process.
process.on('disconnect', () => process.exit());
