import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EngineCall, engineAt } from './engineCall.ts';
import { prepareLaunch } from './engineLaunch.ts';
import { endProcessesWith } from '../processes.ts';
import type { EngineKind } from '../settings.ts';
import { StartError } from '../startError.ts';

export const START_MILLISECONDS = 20_000;
const STOP_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 10;
/** An engine that ends more often within this time is given up. */
const MOST_RESTARTS = 5;
const RESTARTS_WITHIN_MILLISECONDS = 60_000;

/** A running DynamoDB-compatible table engine. */
export interface Engine {
  readonly port: number;
  readonly call: EngineCall;
  /** Removes stream records of a table before this one, so that those that were read do not pile up. */
  forgetStreamRecords(table: string, sequence: string): void;
  /** Resolves when it keeps ending without being asked to, with what it said last. */
  readonly crashed: Promise<string>;
  /** Kills its process, which stays away until it is brought back. Resolves when it is gone. */
  takeAway(): Promise<void>;
  /** Starts it again after `takeAway` has resolved. Resolves when it can be used; rejects when it cannot. */
  bringBack(): Promise<void>;
  stop(): Promise<void>;
}

/** A time without a process, on purpose. */
interface Absence {
  readonly begun: PromiseWithResolvers<void>;
  readonly over: PromiseWithResolvers<void>;
}

/**
 * Starts the engine with its data on disk in `dataDir`. It ends with this process. One of an earlier run that is still ending, or that lost its
 * guard, is ended first: two on the same files would be two tables. One that ends by itself is started again, on the same port; what is asked
 * meanwhile fails as when DynamoDB does not answer. The caller holds the directory's lock.
 */
export async function startEngine(kind: EngineKind, dataDir: string): Promise<Engine> {
  const launch = await prepareLaunch(kind, dataDir);
  await endProcessesWith(launch.marks, STOP_MILLISECONDS);
  const logFile = join(dataDir, 'engine.log');
  await rm(logFile, { force: true });
  const port = await freePort();
  const crashed = Promise.withResolvers<string>();
  let stopping = false;
  let absence: Absence | undefined;
  let back = Promise.withResolvers<void>();
  let running = await start();
  const kept = keep();
  return {
    port,
    call: engineAt(port),
    forgetStreamRecords: launch.forgetStreamRecords,
    crashed: crashed.promise,
    async takeAway() {
      absence ??= { begun: Promise.withResolvers(), over: Promise.withResolvers() };
      running.child.kill('SIGKILL');
      await Promise.race([absence.begun.promise, kept]);
    },
    async bringBack() {
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
      running.child.kill('SIGTERM');
      const timer = setTimeout(() => running.child.kill('SIGKILL'), STOP_MILLISECONDS);
      await kept;
      clearTimeout(timer);
    },
  };

  /** One process of it; a `StartError` when it ends, or does not answer, before it can be used. */
  async function start(): Promise<{ readonly child: ChildProcess; readonly ended: Promise<string> }> {
    const log = await open(logFile, 'a');
    const child = launch.spawn(port, [log.fd, log.fd]);
    // Sooner than its guard, and gently.
    const kill = () => child.kill();
    process.once('exit', kill);
    const ended = once(child, 'exit')
      .then(
        ([code, signal]) => `it ended with ${code ?? signal}.`,
        (error: Error) => error.message,
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

  /** Has a process run until it is asked to stop, or keeps ending. */
  async function keep(): Promise<void> {
    const ends: number[] = [];
    let how = await running.ended;
    while (!stopping) {
      if (absence) {
        const { begun, over } = absence;
        begun.resolve();
        await over.promise;
        if (stopping) return;
      } else {
        const now = Date.now();
        if (ends.push(now) > MOST_RESTARTS && now - (ends.shift() as number) < RESTARTS_WITHIN_MILLISECONDS)
          return crashed.resolve(how);
        process.stderr.write(`The table engine ended unexpectedly and is started again: ${how}\n`);
      }
      how = await again();
    }
  }

  /** One more process; gives how it ended. */
  async function again(): Promise<string> {
    try {
      running = await start();
    } catch (error) {
      return (error as Error).message;
    }
    back.resolve();
    // Asked for while it was being started.
    if (stopping) running.child.kill('SIGTERM');
    else if (absence) running.child.kill('SIGKILL');
    return running.ended;
  }
}

/** Returns a port that nothing uses now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Waits until something answers on the port; gives what is wrong when nothing does. */
export async function listening(port: number, decided: AbortSignal): Promise<string | undefined> {
  const deadline = Date.now() + START_MILLISECONDS;
  while (Date.now() < deadline && !decided.aborted) {
    const socket = connect(port, '127.0.0.1');
    // A connection from the very port that it goes to is one with itself, not with an engine.
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
