import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds per tick. Linux counts CPU time in ticks of 10 ms. */
const TICK_MILLISECONDS = 10;

/**
 * Returns the CPU time in milliseconds and the resident memory in bytes. Both are sums over a process and all its
 * descendants. Works on Linux only.
 */
export function usageOf(root: number): { cpuMilliseconds: number; bytes: number } {
  const all = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? processOf(name) : [])));
  const usage = { cpuMilliseconds: 0, bytes: 0 };
  for (const [pid, { ticks, bytes }] of all) {
    if (!isBelow(all, pid, root)) continue;
    usage.cpuMilliseconds += ticks * TICK_MILLISECONDS;
    usage.bytes += bytes;
  }
  return usage;
}

interface Process {
  readonly parent: number;
  readonly ticks: number;
  readonly bytes: number;
}

function isBelow(all: ReadonlyMap<number, Process>, pid: number, root: number): boolean {
  for (let ancestor: number | undefined = pid; ancestor; ancestor = all.get(ancestor)?.parent)
    if (ancestor === root) return true;
  return false;
}

/** Returns an empty list if the process has ended. */
function processOf(pid: string): [number, Process][] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // A program's name is in parentheses and can contain spaces, so the fields are split after the last parenthesis.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    return [[Number(pid), { parent: Number(fields[1]), ticks, bytes: Number(kilobytes) * 1024 }]];
  } catch {
    return [];
  }
}
