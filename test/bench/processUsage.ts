import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds per tick. Linux counts CPU time in ticks of 10 ms. */
const TICK_MILLISECONDS = 10;
const PAGE_BYTES = 4_096;

/**
 * CPU time in milliseconds: of the local run's main process (`main`), and of its child processes, which run the table
 * engine (`engine`).
 */
export interface CpuTime {
  readonly main: number;
  readonly engine: number;
}

/** Returns the CPU time used since the start of the local run. `pid` is the id of its main process. */
export function cpuTime(pid: number): CpuTime {
  const ticks = (each: number) => {
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MILLISECONDS;
  };
  return { main: ticks(pid), engine: children(pid).reduce((sum, child) => sum + ticks(child), 0) };
}

/** Returns the resident memory of the local run's main process and child processes together, in bytes. */
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
