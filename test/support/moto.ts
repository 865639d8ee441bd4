import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { spawnGuarded } from '../../infra/local/table/guardedProcess.ts';

const TYPES =
  'import json; from moto.cloudformation.parsing import get_model_map; print(json.dumps(list(get_model_map())))';

/** Returns the resource types that moto's CloudFormation creates. Throws an error if this machine has no moto server. */
export async function motoTypes(): Promise<string[]> {
  const code = `import moto.server, flask, flask_cors; ${TYPES}`;
  const { stdout } = await promisify(execFile)('python3', ['-W', 'ignore', '-c', code], { cwd: tmpdir() }).catch(() => {
    throw new Error('Python 3 cannot load moto[server]: pip install "moto[server]".');
  });
  return JSON.parse(stdout) as string[];
}

/** A server with the APIs of AWS on this machine. It keeps everything in memory. */
export interface Moto {
  readonly url: string;
  /** Stores an object in S3. */
  put(bucket: string, key: string, body: string | Buffer): Promise<void>;
  /** Returns the last lines of the server's log. */
  log(): string;
  stop(): Promise<void>;
}

export async function startMoto(): Promise<Moto> {
  const port = await freePort();
  const server = spawnGuarded(
    ['python3', '-W', 'ignore', '-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)],
    ['pipe', 'pipe'],
  );
  const ended = once(server, 'exit');
  let output = '';
  const started = new Promise<void>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Running on')) resolve();
      });
    void ended.then(() => reject(new Error(`moto ended before it listened:\n${output}`)));
  });
  await started;
  const url = `http://127.0.0.1:${port}`;
  const send = async (path: string, body: string | Buffer) => {
    const { status } = await fetch(`${url}/${path}`, { method: 'PUT', body });
    if (status !== 200) throw new Error(`moto answered ${status} to PUT ${path}`);
  };
  const buckets = new Set<string>();
  return {
    url,
    async put(bucket, key, body) {
      if (!buckets.has(bucket)) await send(bucket, '');
      buckets.add(bucket);
      await send(`${bucket}/${key}`, body);
    },
    log: () => output.slice(-2_000),
    async stop() {
      server.kill('SIGKILL');
      await ended;
    },
  };
}

/** Returns a port of 127.0.0.1 that no server has. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
