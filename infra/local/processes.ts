import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const POLL_MILLISECONDS = 20;

export interface Process {
  readonly pid: number;
  /** Its arguments, separated and followed by a space. */
  readonly command: string;
}

/**
 * The processes whose arguments contain these, in this order. Found by their arguments and not by a stored process id,
 * which may belong to another program by now, or was never stored because of a crash.
 */
export async function processesWith(...args: string[]): Promise<Process[]> {
  const text = ` ${args.join(' ')} `;
  const all = process.platform === 'linux' ? await fromProc() : await fromPs();
  return all.filter(({ command }) => command.includes(text));
}

/** Ends the processes whose arguments contain these and waits until they are gone; gives how many there were. */
export async function endProcessesWith(args: string[], patienceMilliseconds: number): Promise<number> {
  const first = await processesWith(...args);
  const impatientAt = Date.now() + patienceMilliseconds;
  // Looked up anew instead of asked by id: an orphan in a container can stay a zombie for ever, but has no arguments then.
  for (let left = first; left.length > 0; left = await processesWith(...args)) {
    for (const { pid } of left) send(pid, Date.now() < impatientAt ? 'SIGTERM' : 'SIGKILL');
    await delay(POLL_MILLISECONDS);
    if (Date.now() > impatientAt + patienceMilliseconds)
      throw new Error(`Process ${left[0]!.pid} cannot be ended: ${left[0]!.command}`);
  }
  return first.length;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in the meantime, or belongs to another user; which of them, the next look tells.
  }
}

async function fromProc(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.map((pid, index) => ({ pid: Number(pid), command: commands[index]!.replaceAll('\0', ' ') }));
}

async function fromPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid && command ? [{ pid: Number(pid), command: `${command} ` }] : [];
  });
}
