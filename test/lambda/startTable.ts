import type { StartTimes } from './system.ts';

/** Returns a table of what the starts of functions took: the median, the most, and the slowest function. */
export function startTable(starts: readonly StartTimes[]): string {
  const row = (label: string, valueOf: (start: StartTimes) => number) => {
    const sorted = [...starts].sort((a, b) => valueOf(a) - valueOf(b));
    const [median, slowest] = [sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!];
    return [label, valueOf(median).toFixed(0), valueOf(slowest).toFixed(0), slowest.name];
  };
  const rows = [
    [`ms, of ${starts.length} processes`, 'median', 'most', 'slowest'],
    row('init', ({ init }) => init),
    row('first call', ({ firstCall }) => firstCall),
  ];
  return rows
    .map(
      ([label = '', median = '', most = '', name = '']) =>
        `\n${label.padEnd(22)}${median.padStart(8)}${most.padStart(8)}  ${name}`,
    )
    .join('')
    .concat('\n\n');
}
