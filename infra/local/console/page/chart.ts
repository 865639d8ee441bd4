import uPlot from 'uplot';
import { valueOf } from './colours.ts';
import { number } from './format.ts';

const HEIGHT = 130;
const FONT = '11px system-ui, sans-serif';
/** All charts have the same key, so all cursors show the same time. */
const SYNC = 'time';

export interface ChartOptions {
  readonly plot: HTMLElement;
  /** Names of CSS variables, one for each line. */
  readonly colours: readonly string[];
  readonly data: uPlot.AlignedData;
  /** Gets the index of the time under the cursor, or undefined outside of the chart. */
  readonly onPointed: (index: number | undefined) => void;
}

const charts = new Set<uPlot>();
// A canvas does not follow the style sheet, so a change between light and dark draws the charts again.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
  charts.forEach((chart) => chart.redraw(false, true)),
);

const resizeObserver = new ResizeObserver((entries) => {
  for (const chart of charts) {
    const entry = entries.find(({ target }) => target === chart.root.parentElement);
    if (entry && entry.contentRect.width > 0) chart.setSize({ width: entry.contentRect.width, height: HEIGHT });
  }
});

export function newChart({ plot, colours, data, onPointed }: ChartOptions): uPlot {
  const axis = {
    stroke: () => valueOf('--quiet'),
    font: FONT,
    grid: { stroke: () => valueOf('--grid'), width: 1 },
    ticks: { show: false },
  };
  const chart = new uPlot(
    {
      width: plot.clientWidth || 300,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { sync: { key: SYNC }, drag: { x: false, y: false }, y: false, points: { size: 5 } },
      scales: {
        y: {
          range: (_chart, _lowest, highest) => [0, highest > 0 ? (uPlot.rangeNum(0, highest, 0.1, true)[1] ?? 1) : 1],
        },
      },
      axes: [
        { ...axis, size: 22, space: 70, values: (_chart, moments) => moments.map(hoursAndMinutes) },
        { ...axis, size: 44, space: 28, values: (_chart, values) => values.map(number) },
      ],
      series: [
        {},
        ...colours.map((colour) => {
          const stroke = () => valueOf(colour);
          return { stroke, width: 1.5, points: { show: true, size: 5, fill: stroke, filter: isolatedIndexes } };
        }),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => onPointed(idx ?? undefined)] },
    },
    data,
    plot,
  );
  charts.add(chart);
  resizeObserver.observe(plot);
  return chart;
}

export function removeChart(chart: uPlot): void {
  const { parentElement } = chart.root;
  if (parentElement) resizeObserver.unobserve(parentElement);
  charts.delete(chart);
  chart.destroy();
}

function hoursAndMinutes(seconds: number): string {
  const at = new Date(seconds * 1000);
  return [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** No line leads to a value without neighbours, so the chart draws a point for it. */
function isolatedIndexes({ data }: uPlot, seriesIndex: number): number[] {
  const values = data[seriesIndex] ?? [];
  return Array.from(values.keys()).filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}
