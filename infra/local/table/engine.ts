import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endProcesses } from '../processes.ts';
import { StartError } from '../startError.ts';
import { type EngineAddress, freeAddress } from './engineAddress.ts';
import { type EngineCall, EngineConnections } from './engineCall.ts';
import { type EngineKind, type Launch, prepareLaunch } from './engineLaunch.ts';

export const START_MILLISECONDS = 20_000;
const STOP_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 10;
const MAX_RESTARTS = 5;
const RESTARTS_WITHIN_MILLISECONDS = 60_000;

export interface Engine {
  readonly url: string;
  readonly connections: EngineConnections;
  readonly call: EngineCall;
  readonly deleteStreamRecords: (table: string, sequence: string) => void;
  /** Resolves with the last reason and the engine's output if it crashes too often. */
  readonly crashed: Promise<string>;
  /** The engine stays ended until `restart`. */
  kill(): Promise<void>;
  /** Resolves when the engine accepts calls. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Outage {
  readonly stopped: PromiseWithResolvers<void>;
  readonly resumed: PromiseWithResolvers<void>;
}

/**
 * Ends the engine of an earlier run first, because two engines must not use the same files. The caller holds the lock
 * of `dataDir`. After a crash, the engine starts again at the same address, unless it crashes too often.
 */
export async function startEngine(kind: EngineKind, dataDir: string): Promise<Engine> {
  const launch = await prepareLaunch(kind, dataDir);
  await endProcesses(launch.identifyingArguments, STOP_MILLISECONDS);
  const logFile = join(dataDir, 'engine.log');
  await rm(logFile, { force: true });
  const address = await freeAddress(launch);
  const connections = new EngineConnections(address.url, launch.accessKeyId);
  const crashed = Promise.withResolvers<string>();
  let stopping = false;
  const isStopping = () => stopping;
  let outage: Outage | undefined;
  let restarted: PromiseWithResolvers<void> = Promise.withResolvers();
  const start = () => startProcess(kind, launch, address, logFile);
  let running = await start();
  const supervision = supervise();
  return {
    url: address.url,
    connections,
    call: connections.call,
    deleteStreamRecords: launch.deleteStreamRecords,
    crashed: crashed.promise,
    async kill() {
      outage ??= { stopped: Promise.withResolvers(), resumed: Promise.withResolvers() };
      running.child.kill('SIGKILL');
      await Promise.race([outage.stopped.promise, supervision]);
    },
    async restart() {
      if (!outage) return;
      restarted = Promise.withResolvers();
      outage.resumed.resolve();
      outage = undefined;
      await Promise.race([
        restarted.promise,
        supervision.then(() => Promise.reject(new Error('The table engine could not be started again'))),
      ]);
    },
    async stop() {
      stopping = true;
      outage?.resumed.resolve();
      connections.close();
      running.child.kill('SIGTERM');
      const timer = setTimeout(() => running.child.kill('SIGKILL'), STOP_MILLISECONDS);
      await supervision;
      clearTimeout(timer);
    },
  };

  async function supervise(): Promise<void> {
    const ends: number[] = [];
    let reason = await running.ended;
    while (!stopping) {
      if (outage) {
        const { stopped, resumed } = outage;
        stopped.resolve();
        await resumed.promise;
        if (isStopping()) return;
      } else {
        const now = Date.now();
        if (ends.push(now) > MAX_RESTARTS && now - (ends.shift() as number) < RESTARTS_WITHIN_MILLISECONDS) {
          crashed.resolve(reason);
          return;
        }
        process.stderr.write(`The table engine ended unexpectedly and is started again: ${reason}\n`);
      }
      reason = await restartProcess();
    }
  }

  async function restartProcess(): Promise<string> {
    try {
      running = await start();
    } catch (error) {
      return (error as Error).message;
    }
    restarted.resolve();
    // `stop` or `kill` during the start ended only the old process.
    if (stopping) running.child.kill('SIGTERM');
    else if (outage) running.child.kill('SIGKILL');
    return running.ended;
  }
}

interface Running {
  readonly child: ChildProcess;
  /** Resolves with the reason and the engine's output. */
  readonly ended: Promise<string>;
}

async function startProcess(
  kind: EngineKind,
  launch: Launch,
  address: EngineAddress,
  logFile: string,
): Promise<Running> {
  const log = await open(logFile, 'a');
  const child = launch.spawn(address, [log.fd, log.fd]);
  // SIGTERM lets the engine end by itself. Otherwise the guard of `spawnGuarded` would kill it.
  const kill = () => child.kill();
  process.once('exit', kill);
  const ended = once(child, 'exit')
    .then(
      ([code, signal]) => `it ended with ${code ?? signal}.`,
      (error: unknown) => (error as Error).message,
    )
    .then(async (reason) => `${reason}\n${await readFile(logFile, 'utf8').catch(() => '')}`.trim());
  await log.close();
  void ended.then(() => process.off('exit', kill));
  const waiting = new AbortController();
  const failure = await Promise.race([listening(address, waiting.signal), ended]);
  waiting.abort();
  if (failure !== undefined) {
    child.kill('SIGKILL');
    throw new StartError(`The table engine (${kind}) did not start: ${failure}`);
  }
  launch.started();
  return { child, ended };
}

/** Returns the problem if no server accepts connections in time, or if `waiting` is aborted. */
export async function listening({ host, port }: EngineAddress, waiting: AbortSignal): Promise<string | undefined> {
  const deadline = Date.now() + START_MILLISECONDS;
  while (Date.now() < deadline && !waiting.aborted) {
    const socket = connect(port, host);
    // Without a server, TCP can connect a port to itself.
    const connected = await once(socket, 'connect').then(
      () => socket.localPort !== port,
      () => false,
    );
    socket.destroy();
    if (connected) return undefined;
    await delay(POLL_MILLISECONDS);
  }
  return `nothing answers at ${host}:${port} after ${START_MILLISECONDS / 1000} s`;
}
