import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DemoCredentials } from '../../infra/local/demoWorkspace.ts';
import { createClient, type Methods } from '../../lib/client/index.ts';
import { resultOf } from '../support/requests.ts';

const POLL_MILLISECONDS = 100;
const PATIENCE_MILLISECONDS = 120_000;
const MAIN = resolve(import.meta.dirname, '../../infra/local/main.ts');

interface SystemOptions {
  /** The data directory. By default, the system gets a temporary directory, which is removed after `stop`. */
  readonly dataDir?: string;
  readonly env?: Record<string, string>;
  /**
   * JavaScript that each thread of the system runs first. It can replace the clock or DNS, which a test cannot reach
   * otherwise.
   */
  readonly preload?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // The type is `any`, so that tests can read any field.
  readonly body: any;
}

/** The local system in its own process, started like `npm start`. */
export interface System {
  readonly baseUrl: string;
  readonly credentials: DemoCredentials;
  readonly dataDir: string;
  readonly pid: number;
  /** Returns the text that the system has printed to standard output and standard error. */
  logs(): string;
  /** Resolves when the printed text matches. Rejects if the system ends before that. */
  printed(text: RegExp): Promise<void>;
  /** A client with the API key of the demo workspace. */
  readonly client: Methods;
  /** The headers with that API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sends `data` in an envelope, by default with these headers. */
  post(path: string, data: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Like `post`, for calls that must succeed. Returns the `data` of the answer. */
  ok(path: string, data: unknown, headers?: Readonly<Record<string, string>>): Promise<any>;
  /** Sends SIGTERM to the system and waits for its end. Returns the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
  /** Waits until the system has ended without a signal from the test. Returns the exit code. */
  ended(): Promise<number | null>;
}

/** Starts the system on a free port and waits until it is ready. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const dataDir = await realpath(options.dataDir ?? (await temporaryDir()));
  const launched = launch(dataDir, options);
  const { child, output, ended } = launched;
  await printed(launched, /^Ready: /m);
  const credentials = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as DemoCredentials;
  const { baseUrl, headerPrefix, apiKey, authToken } = credentials;
  const ownHeaders = { [`${headerPrefix}api-key`]: apiKey, [`${headerPrefix}auth-token`]: authToken };
  const finish = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const code = await ended;
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
    return code;
  };
  const post: System['post'] = async (path, data, headers = ownHeaders) => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ data }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    baseUrl,
    credentials,
    dataDir,
    pid: child.pid!,
    client: createClient({ baseUrl, serviceName: headerPrefix.slice('x-'.length, -1), apiKey, authToken }),
    logs: output,
    printed: (text) => printed(launched, text),
    headers: ownHeaders,
    post,
    ok: async (path, data, headers) => resultOf(await post(path, data, headers), path).data,
    stop: () => finish('SIGTERM'),
    kill: async () => void (await finish('SIGKILL')),
    ended: () => ended,
  };
}

/** Starts a system that must fail to start. Returns its exit code and its output. */
export async function startInVain(options: SystemOptions = {}): Promise<{ code: number | null; output: string }> {
  const dataDir = options.dataDir ?? (await temporaryDir());
  const { output, ended } = launch(dataDir, options);
  const code = await ended;
  if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
  return { code, output: output() };
}

/**
 * Repeats a call until its result meets a condition. Returns the result. After a time limit, throws an error with the
 * last result, or with the text of `describe`.
 */
export async function until<T>(
  ask: () => Promise<T>,
  isDone: (answer: T) => boolean,
  describe: (answer: T) => string = (answer) => `The last answer was ${JSON.stringify(answer).slice(0, 10_000)}`,
): Promise<T> {
  const end = performance.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    const answer = await ask();
    if (isDone(answer)) return answer;
    if (performance.now() > end) throw new Error(describe(answer));
    await delay(POLL_MILLISECONDS);
  }
}

/** Waits until `enough` returns true for the mails that a system has sent. Returns the mails, oldest first. */
export async function mailsOnce(dataDir: string, enough: (mails: readonly string[]) => boolean): Promise<string[]> {
  const changes = watch(join(dataDir, 'outbox'));
  try {
    for (;;) {
      const changed = once(changes, 'change');
      const mails = await mailsIn(dataDir);
      if (enough(mails)) return mails;
      await changed;
    }
  } finally {
    changes.close();
  }
}

/** Returns the mails that a system has sent, oldest first. */
export async function mailsIn(dataDir: string): Promise<string[]> {
  const outbox = join(dataDir, 'outbox');
  const files = (await readdir(outbox)).filter((name) => name.endsWith('.eml')).sort();
  return Promise.all(files.map((name) => readFile(join(outbox, name), 'utf8')));
}

/**
 * Returns code for the option `preload`. It sets the clock of a system ahead, as if the machine had been off for
 * `seconds`.
 */
export function clockAhead(seconds: number): string {
  return `
    const SystemDate = Date;
    const now = () => SystemDate.now() + ${seconds} * 1000;
    globalThis.Date = new Proxy(SystemDate, {
      construct: (target, args) => args.length === 0 ? new target(now()) : Reflect.construct(target, args),
      get: (target, name) => name === 'now' ? now : Reflect.get(target, name),
    });
  `;
}

/** Creates an empty directory. Returns its path without symbolic links. */
export async function temporaryDir(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'system-')));
}

interface Launched {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

function launch(dataDir: string, { env = {}, preload }: SystemOptions): Launched {
  // Threads inherit options of the command line, but not `NODE_OPTIONS`.
  const first = preload === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const child = spawn(process.execPath, [...first, MAIN], {
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, output: () => text, ended: once(child, 'close').then(([code]) => code as number | null) };
}

/** Resolves when the output of a process matches. If the process ends before that, rejects with the whole output. */
function printed({ child, output, ended }: Launched, text: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => text.test(output()) && resolve();
    look();
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', look);
    void ended.then(() => reject(new Error(`The system ended without printing ${text}:\n${output()}`)));
  });
}
