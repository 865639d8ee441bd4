import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EngineCall, EngineConnections } from './engineCall.ts';
import { prepareLaunch } from './engineLaunch.ts';
import { endProcesses } from '../processes.ts';
import type { EngineKind } from '../settings.ts';
import { StartError } from '../startError.ts';

export const START_MILLISECONDS = 20_000;
const STOP_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 10;
/** The largest number of restarts after crashes within `RESTARTS_WITHIN_MILLISECONDS`. */
const MAX_RESTARTS = 5;
const RESTARTS_WITHIN_MILLISECONDS = 60_000;

/** A running DynamoDB-compatible table engine. */
export interface Engine {
  readonly port: number;
  readonly connections: EngineConnections;
  readonly call: EngineCall;
  /** Deletes the stream records of a table before the sequence number, so that processed records do not accumulate. */
  readonly deleteStreamRecords: (table: string, sequence: string) => void;
  /** Resolves with the engine's last output when the engine crashes too often. Otherwise never resolves. */
  readonly crashed: Promise<string>;
  /** Kills the process and keeps it stopped. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts the process again after `kill`. Resolves when the process accepts calls. Rejects if it cannot start. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A period in which the engine is stopped on purpose. */
interface Outage {
  readonly stopped: PromiseWithResolvers<void>;
  readonly resumed: PromiseWithResolvers<void>;
}

/**
 * Starts the engine with its data in `dataDir`. First ends an engine of an earlier run, because two engines must not use
 * the same files. Restarts a crashed engine on the same port. Calls in between fail as if DynamoDB did not answer. The
 * engine ends with this process. The caller must hold the lock of the directory.
 */
export async function startEngine(kind: EngineKind, dataDir: string): Promise<Engine> {
  const launch = await prepareLaunch(kind, dataDir);
  await endProcesses(launch.identifyingArguments, STOP_MILLISECONDS);
  const logFile = join(dataDir, 'engine.log');
  await rm(logFile, { force: true });
  const port = await freePort();
  const connections = new EngineConnections(port);
  const crashed = Promise.withResolvers<string>();
  let stopping = false;
  const isStopping = () => stopping;
  let outage: Outage | undefined;
  let restarted: PromiseWithResolvers<void> = Promise.withResolvers();
  let running = await start();
  const supervision = supervise();
  return {
    port,
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

  /** Starts one process. Throws a `StartError` if the process ends or accepts no connection in time. */
  async function start(): Promise<{ readonly child: ChildProcess; readonly ended: Promise<string> }> {
    const log = await open(logFile, 'a');
    const child = launch.spawn(port, [log.fd, log.fd]);
    // This handler ends the engine with SIGTERM, before the guard of `spawnGuarded` kills it.
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
    const failure = await Promise.race([listening(port, waiting.signal), ended]);
    waiting.abort();
    if (failure !== undefined) {
      child.kill('SIGKILL');
      throw new StartError(`The table engine (${kind}) did not start: ${failure}`);
    }
    launch.started();
    return { child, ended };
  }

  /** Restarts the process until the engine is stopped or keeps crashing. */
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

  /** Starts the process again and waits for its end. Returns the reason of the end. */
  async function restartProcess(): Promise<string> {
    try {
      running = await start();
    } catch (error) {
      return (error as Error).message;
    }
    restarted.resolve();
    // `stop` or `kill` may have been called during the start.
    if (stopping) running.child.kill('SIGTERM');
    else if (outage) running.child.kill('SIGKILL');
    return running.ended;
  }
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Waits until the port accepts connections and returns undefined. Returns a description of the problem if the port accepts
 * no connection in time, or if `waiting` is aborted.
 */
export async function listening(port: number, waiting: AbortSignal): Promise<string | undefined> {
  const deadline = Date.now() + START_MILLISECONDS;
  while (Date.now() < deadline && !waiting.aborted) {
    const socket = connect(port, '127.0.0.1');
    // Without a server, TCP can connect a port to itself. Both ends then have the same port.
    const connected = await once(socket, 'connect').then(
      () => socket.localPort !== port,
      () => false,
    );
    socket.destroy();
    if (connected) return undefined;
    await delay(POLL_MILLISECONDS);
  }
  return `nothing answers on port ${port} after ${START_MILLISECONDS / 1000} s`;
}
