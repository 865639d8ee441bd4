import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const POLL_MILLISECONDS = 20;

export interface Process {
  readonly pid: number;
  /** A space follows each argument. */
  readonly command: string;
}

/** Finds processes by consecutive arguments. A stored id would not do: after a crash another program may have it. */
export async function findProcesses(...args: string[]): Promise<Process[]> {
  const text = ` ${args.join(' ')} `;
  const all = process.platform === 'linux' ? await listFromProc() : await listFromPs();
  return all.filter(({ command }) => command.includes(text));
}

/**
 * Ends the processes that `findProcesses` finds, and waits for their end: SIGTERM first, SIGKILL after
 * `termMilliseconds`. Returns how many there were. Throws if one survives.
 */
export async function endProcesses(args: string[], termMilliseconds: number): Promise<number> {
  const initial = await findProcesses(...args);
  const killAt = Date.now() + termMilliseconds;
  // An ended process can stay a zombie, which keeps its id but no command line.
  for (let running = initial; running.length > 0; running = await findProcesses(...args)) {
    for (const { pid } of running) sendSignal(pid, Date.now() < killAt ? 'SIGTERM' : 'SIGKILL');
    await delay(POLL_MILLISECONDS);
    const [remaining] = running;
    if (remaining && Date.now() > killAt + termMilliseconds)
      throw new Error(`Process ${remaining.pid} cannot be ended: ${remaining.command}`);
  }
  return initial.length;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or it belongs to another user.
  }
}

async function listFromProc(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return { pid: Number(pid), command: command.replaceAll('\0', ' ') };
    }),
  );
}

async function listFromPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid && command ? [{ pid: Number(pid), command: `${command} ` }] : [];
  });
}
