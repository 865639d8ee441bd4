import type uPlot from 'uplot';
import type { GraphSnapshot } from '../../metrics/dashboardSnapshot.ts';
import { newChart, removeChart } from './chart.ts';
import type { Colours } from './colours.ts';
import { element, setText } from './dom.ts';
import { number, time } from './format.ts';

type Series = GraphSnapshot['series'][number];

/** A chart, and a table of its values, which screen readers read instead of the chart. */
export class Graph {
  readonly element: HTMLElement;
  readonly #plot = element('div', { class: 'plot', 'aria-hidden': 'true' });
  readonly #empty = element('p', { class: 'empty' });
  readonly #when = element('th', { scope: 'col' });
  readonly #body = element('tbody');
  readonly #values: HTMLElement;
  readonly #colours: Colours;
  #chart: uPlot | undefined;
  #times: readonly number[] = [];
  #series: readonly Series[] = [];
  #pointedAt: number | undefined;

  constructor({ title, width }: GraphSnapshot, colours: Colours) {
    this.#colours = colours;
    const head = element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, 'series'),
        this.#when,
        element('th', { scope: 'col' }, 'highest'),
      ),
    );
    this.#values = element('div', { class: 'values' }, element('table', {}, head, this.#body));
    this.element = element(
      'figure',
      { 'data-width': String(width), 'aria-label': title },
      element('h3', {}, title),
      this.#plot,
      this.#empty,
      this.#values,
    );
  }

  /** `span` is the time range in words, such as `15 minutes`. */
  show({ series }: GraphSnapshot, times: readonly number[], span: string): void {
    const sameLabels =
      series.length === this.#series.length && series.every(({ label }, index) => label === this.#series[index]?.label);
    const same =
      sameLabels &&
      equal(times, this.#times) &&
      series.every(({ values }, index) => equal(values, this.#series[index]?.values ?? []));
    [this.#times, this.#series] = [times, series];
    this.#plot.hidden = this.#values.hidden = series.length === 0;
    setText(this.#empty, series.length === 0 ? `No data in the last ${span}` : '');
    if (same) return;
    if (!sameLabels) this.#renew();
    else this.#chart?.setData(this.#data());
    this.#write();
  }

  #data(): uPlot.AlignedData {
    return [this.#times.map((at) => at / 1000), ...this.#series.map(({ values }) => [...values])];
  }

  /** Call this before the graph leaves the page. */
  remove(): void {
    if (this.#chart) removeChart(this.#chart);
    [this.#chart, this.#pointedAt] = [undefined, undefined];
  }

  #renew(): void {
    this.remove();
    const colours = this.#series.map(({ label }) => this.#colours.of(label));
    this.#body.replaceChildren(
      ...this.#series.map(({ label }, index) => {
        const swatch = element('i');
        swatch.style.background = `var(${colours[index]})`;
        return element('tr', {}, element('th', { scope: 'row' }, swatch, label), element('td'), element('td'));
      }),
    );
    if (this.#series.length === 0) return;
    this.#chart = newChart({
      plot: this.#plot,
      colours,
      data: this.#data(),
      onPointed: (index) => {
        if (index === this.#pointedAt) return;
        this.#pointedAt = index;
        this.#write();
      },
    });
  }

  #write(): void {
    const at = this.#pointedAt;
    setText(this.#when, at === undefined ? 'latest' : time(this.#times[at] ?? 0));
    this.#series.forEach(({ values }, index) => {
      const [, valueCell, highest] = this.#body.rows[index]?.cells ?? [];
      if (!valueCell || !highest) return;
      setText(valueCell, number(at === undefined ? values.findLast((value) => value !== null) : values[at]));
      setText(
        highest,
        number(
          values.reduce(
            (most: number | null, value) => (value === null || (most !== null && most >= value) ? most : value),
            null,
          ),
        ),
      );
    });
  }
}

function equal(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
