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
/** Limit of restarts within a time span. */
const MOST_RESTARTS = 5;
const RESTARTS_WITHIN_MILLISECONDS = 60_000;

/** A running DynamoDB-compatible table engine. */
export interface Engine {
  readonly port: number;
  readonly connections: EngineConnections;
  readonly call: EngineCall;
  /** Deletes stream records of a table before this one, so that processed records do not accumulate. */
  readonly deleteStreamRecords: (table: string, sequence: string) => void;
  /** Resolves with the engine's last output if it keeps crashing. */
  readonly crashed: Promise<string>;
  /** Kills the process and keeps it stopped. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts the process again after `takeAway`. Resolves when it accepts calls; rejects if it cannot start. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A period in which the engine is stopped on purpose. */
interface Outage {
  readonly begun: PromiseWithResolvers<void>;
  readonly over: PromiseWithResolvers<void>;
}

/**
 * Starts the engine with its data in `dataDir`. First ends an engine of an earlier run, because two engines on the same
 * files would be two tables. Restarts a crashed engine on the same port; calls in between fail as if DynamoDB did not
 * answer. The engine ends with this process. The caller must hold the lock of the directory.
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
  let absence: Outage | undefined;
  let back: PromiseWithResolvers<void> = Promise.withResolvers();
  let running = await start();
  const kept = supervise();
  return {
    port,
    connections,
    call: connections.call,
    deleteStreamRecords: launch.deleteStreamRecords,
    crashed: crashed.promise,
    async kill() {
      absence ??= { begun: Promise.withResolvers(), over: Promise.withResolvers() };
      running.child.kill('SIGKILL');
      await Promise.race([absence.begun.promise, kept]);
    },
    async restart() {
      if (!absence) return;
      back = Promise.withResolvers();
      absence.over.resolve();
      absence = undefined;
      await Promise.race([
        back.promise,
        kept.then(() => Promise.reject(new Error('The table engine did not come back'))),
      ]);
    },
    async stop() {
      stopping = true;
      absence?.over.resolve();
      connections.close();
      running.child.kill('SIGTERM');
      const timer = setTimeout(() => running.child.kill('SIGKILL'), STOP_MILLISECONDS);
      await kept;
      clearTimeout(timer);
    },
  };

  /** Starts one process. Throws a `StartError` if it ends or does not answer. */
  async function start(): Promise<{ readonly child: ChildProcess; readonly ended: Promise<string> }> {
    const log = await open(logFile, 'a');
    const child = launch.spawn(port, [log.fd, log.fd]);
    // Ends the engine before its guard does, and with SIGTERM.
    const kill = () => child.kill();
    process.once('exit', kill);
    const ended = once(child, 'exit')
      .then(
        ([code, signal]) => `it ended with ${code ?? signal}.`,
        (error: unknown) => (error as Error).message,
      )
      .then(async (how) => `${how}\n${await readFile(logFile, 'utf8').catch(() => '')}`.trim());
    await log.close();
    void ended.then(() => process.off('exit', kill));
    const decided = new AbortController();
    const failure = await Promise.race([listening(port, decided.signal), ended]);
    decided.abort();
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
    let how = await running.ended;
    while (!stopping) {
      if (absence) {
        const { begun, over } = absence;
        begun.resolve();
        await over.promise;
        if (isStopping()) return;
      } else {
        const now = Date.now();
        if (ends.push(now) > MOST_RESTARTS && now - (ends.shift() as number) < RESTARTS_WITHIN_MILLISECONDS) {
          crashed.resolve(how);
          return;
        }
        process.stderr.write(`The table engine ended unexpectedly and is started again: ${how}\n`);
      }
      how = await restartProcess();
    }
  }

  /** Starts the process again. Returns how it ended. */
  async function restartProcess(): Promise<string> {
    try {
      running = await start();
    } catch (error) {
      return (error as Error).message;
    }
    back.resolve();
    // The stop was requested during the start.
    if (stopping) running.child.kill('SIGTERM');
    else if (absence) running.child.kill('SIGKILL');
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

/** Waits until the port accepts connections. Returns the problem if none is accepted in time. */
export async function listening(port: number, decided: AbortSignal): Promise<string | undefined> {
  const deadline = Date.now() + START_MILLISECONDS;
  while (Date.now() < deadline && !decided.aborted) {
    const socket = connect(port, '127.0.0.1');
    // A TCP connection from a port to itself can succeed without a server.
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
