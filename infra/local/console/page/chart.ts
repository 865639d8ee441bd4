import uPlot from 'uplot';
import { valueOf } from './colours.ts';
import { number } from './format.ts';

const HEIGHT = 130;
const FONT = '11px system-ui, sans-serif';
/** The cursor shows the same time in all charts. */
const SYNC = 'time';

export interface ChartOptions {
  readonly plot: HTMLElement;
  /** CSS variables with the colours of the lines. */
  readonly colours: readonly string[];
  readonly data: uPlot.AlignedData;
  /** Called with the index under the cursor, or undefined. */
  readonly pointed: (index: number | undefined) => void;
}

const charts = new Set<uPlot>();
// A canvas does not follow the style sheet.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
  charts.forEach((chart) => chart.redraw(false, true)),
);

const resized = new ResizeObserver((entries) => {
  for (const chart of charts) {
    const entry = entries.find(({ target }) => target === chart.root.parentElement);
    if (entry && entry.contentRect.width > 0) chart.setSize({ width: entry.contentRect.width, height: HEIGHT });
  }
});

/** Creates a chart with one line per colour, as wide as its parent element. */
export function newChart({ plot, colours, data, pointed }: ChartOptions): uPlot {
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
          return { stroke, width: 1.5, points: { show: true, size: 5, fill: stroke, filter: lonely } };
        }),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => pointed(idx ?? undefined)] },
    },
    data,
    plot,
  );
  charts.add(chart);
  resized.observe(plot);
  return chart;
}

/** Removes a chart from the page. */
export function removeChart(chart: uPlot): void {
  const { parentElement } = chart.root;
  if (parentElement) resized.unobserve(parentElement);
  charts.delete(chart);
  chart.destroy();
}

function hoursAndMinutes(seconds: number): string {
  const at = new Date(seconds * 1000);
  return [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Returns the indexes of values without neighbours. No line would show them. */
function lonely({ data }: uPlot, seriesIndex: number): number[] {
  const values = data[seriesIndex] ?? [];
  return Array.from(values.keys()).filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}
