import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from '../startError.ts';

export interface EngineAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/**
 * The engine answers every Host header and origin, so it uses "bad ports" of the Fetch standard, which browsers refuse
 * to call. The operating system picks none of them as a free port.
 */
export const enginePorts: readonly number[] = [
  1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10_080,
];
const [LOOPBACK, EVERYWHERE] = ['127.0.0.1', '0.0.0.0'];

/**
 * Several engines can use the same port, because each has a random address of 127.0.0.0/8. On macOS, or with
 * `isEverywhere`, only the port is random.
 * Throws a `StartError` if no port is free.
 */
export async function freeAddress({ isEverywhere = false, randomHost = randomLoopback } = {}): Promise<EngineAddress> {
  const first = randomInt(enginePorts.length);
  const ports = [...enginePorts.slice(first), ...enginePorts.slice(0, first)];
  for (const bound of isEverywhere ? [EVERYWHERE] : [randomHost(), LOOPBACK])
    for (const port of ports) {
      if (!(await isFree(bound, port))) continue;
      const host = bound === EVERYWHERE ? LOOPBACK : bound;
      return { host, port, url: `http://${host}:${port}` };
    }
  throw new StartError(`No port of ${enginePorts.join(', ')} is free for the table engine.`);
}

function randomLoopback(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!isListening) return false;
  server.close();
  await once(server, 'close');
  return true;
}
