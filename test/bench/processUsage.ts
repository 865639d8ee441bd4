import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in ticks. */
const TICK_MILLISECONDS = 10;
const PAGE_BYTES = 4_096;

/** The CPU time of a system in milliseconds: of its main process, and of its children, which are the table engine. */
export interface CpuTime {
  readonly main: number;
  readonly engine: number;
}

/** Returns the CPU time that a system has used so far. `pid` is its main process. */
export function cpuTime(pid: number): CpuTime {
  const ticks = (each: number) => {
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MILLISECONDS;
  };
  return { main: ticks(pid), engine: children(pid).reduce((sum, child) => sum + ticks(child), 0) };
}

/** Returns the memory of a system in bytes. */
export function memoryBytes(pid: number): number {
  return [pid, ...children(pid)].reduce(
    (sum, each) => sum + Number(readFileSync(`/proc/${each}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES,
    0,
  );
}

function children(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const parent = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[1];
      return Number(parent) === pid ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
