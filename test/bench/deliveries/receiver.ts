/** A webhook receiver in its own process. `receivers.ts` starts it and reads the recorded requests. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AwaitedEvents, Command, ReceivedRequests } from './receivers.ts';

const received = new Map<string, { times: Map<string, number>; requests: number }>();
let recovered = false;
let awaited: AwaitedEvents | undefined;

const server = createServer((request, response) => {
  const receivedAt = performance.timeOrigin + performance.now();
  const path = request.url ?? '';
  let requestsOfPath = received.get(path);
  if (!requestsOfPath) received.set(path, (requestsOfPath = { times: new Map(), requests: 0 }));
  requestsOfPath.requests++;
  const id = request.headers['webhook-id'];
  request.resume().on('end', () => {
    if (path.startsWith('/hang')) return;
    const fails = path.startsWith('/fail') && !recovered;
    if (!fails && typeof id === 'string' && !requestsOfPath.times.has(id)) requestsOfPath.times.set(id, receivedAt);
    response.writeHead(fails ? 500 : 200, { 'content-length': 0 }).end();
    reportIfAwaited();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', (command: Command) => {
  if (command === 'recover') recovered = true;
  if (command === 'clear') received.clear();
  if (typeof command === 'string') {
    report();
    return;
  }
  awaited = command;
  reportIfAwaited();
});
// Ends the receiver when its parent process ends.
process.on('disconnect', () => process.exit());

function reportIfAwaited(): void {
  if (!awaited || (received.get(awaited.path)?.times.size ?? 0) < awaited.events) return;
  awaited = undefined;
  report();
}

/** Sends the recorded requests to the parent process. */
function report(): void {
  process.send?.(
    Object.fromEntries(
      [...received].map(([path, { times, requests }]): [string, ReceivedRequests] => [
        path,
        { times: Object.fromEntries(times), requests },
      ]),
    ),
  );
}
