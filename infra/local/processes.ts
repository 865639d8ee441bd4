import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const POLL_MILLISECONDS = 20;

export interface Process {
  readonly pid: number;
  /** The arguments, each followed by a space. */
  readonly command: string;
}

/**
 * Returns the processes whose command line contains these arguments in this order. Stored process ids would be
 * unreliable: after a crash they may be missing, or belong to another program.
 */
export async function findProcesses(...args: string[]): Promise<Process[]> {
  const text = ` ${args.join(' ')} `;
  const all = process.platform === 'linux' ? await fromProc() : await fromPs();
  return all.filter(({ command }) => command.includes(text));
}

/**
 * Ends the processes whose command line contains these arguments, and waits for their end. Returns their number.
 */
export async function endProcesses(args: string[], patienceMilliseconds: number): Promise<number> {
  const first = await findProcesses(...args);
  const impatientAt = Date.now() + patienceMilliseconds;
  // Searches again instead of checking process ids: in a container an orphan can stay a zombie, which has no command
  // line.
  for (let left = first; left.length > 0; left = await findProcesses(...args)) {
    for (const { pid } of left) send(pid, Date.now() < impatientAt ? 'SIGTERM' : 'SIGKILL');
    await delay(POLL_MILLISECONDS);
    const [remaining] = left;
    if (remaining && Date.now() > impatientAt + patienceMilliseconds)
      throw new Error(`Process ${remaining.pid} cannot be ended: ${remaining.command}`);
  }
  return first.length;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process ended meanwhile or belongs to another user. The next search decides.
  }
}

async function fromProc(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return { pid: Number(pid), command: command.replaceAll('\0', ' ') };
    }),
  );
}

async function fromPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid && command ? [{ pid: Number(pid), command: `${command} ` }] : [];
  });
}
