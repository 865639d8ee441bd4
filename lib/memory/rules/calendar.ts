import type { TimeRange } from './filters.ts';

const units = ['all', 'year', 'month', 'day'] as const;

/**
 * A time range within one calendar unit (UTC). The vector index compares only for equality, so a search compares a name
 * such as `2026-01`. The unit `all` has an empty name.
 */
export interface CalendarPeriod extends TimeRange {
  readonly unit: (typeof units)[number];
  readonly name: string;
}

const nameLengths = { all: 0, year: 4, month: 7, day: 10 } as const;

function nameOf(unit: CalendarPeriod['unit'], time: number): string {
  return new Date(time).toISOString().slice(0, nameLengths[unit]);
}

export function calendarOf(time: number): { readonly year: string; readonly month: string; readonly day: string } {
  return { year: nameOf('year', time), month: nameOf('month', time), day: nameOf('day', time) };
}

export function periodOf({ from, to }: TimeRange): CalendarPeriod {
  const unit = units.findLast((candidate) => nameOf(candidate, from) === nameOf(candidate, to)) ?? 'all';
  return { unit, name: nameOf(unit, from), from, to };
}

const DAY_MS = 24 * 60 * 60_000;
/**
 * A period is split if its range is shorter than half of this. `all` has no length: two years split a range of less
 * than a year.
 */
const unitLengths = { all: 730 * DAY_MS, year: 365 * DAY_MS, month: 30 * DAY_MS, day: DAY_MS } as const;
const MAX_PERIODS = 4;

/**
 * Returns at most four periods that cover the range. Splits a period that the range fills to less than half, if the
 * result has no more than four: an hour around New Year gives two days, not the unit `all`.
 */
export function periodsOf(range: TimeRange): CalendarPeriod[] {
  let periods = [periodOf(range)];
  for (;;) {
    const finer = periods.flatMap((period) =>
      period.to - period.from < unitLengths[period.unit] / 2 && period.unit !== 'day' ? splitPeriod(period) : [period],
    );
    if (finer.length > MAX_PERIODS || finer.every(({ name }, index) => name === periods[index]?.name)) return periods;
    periods = finer;
  }
}

export function splitPeriod({ unit, from, to }: CalendarPeriod): CalendarPeriod[] {
  const [next] = units.slice(units.indexOf(unit) + 1);
  if (next === undefined || next === 'all') return [];
  const parts: CalendarPeriod[] = [];
  for (let start = from; start <= to;) {
    const end = Math.min(endOf(next, start), to);
    parts.push({ unit: next, name: nameOf(next, start), from: start, to: end });
    start = end + 1;
  }
  return parts;
}

function endOf(unit: 'year' | 'month' | 'day', time: number): number {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const next = {
    year: Date.UTC(year + 1, 0),
    month: Date.UTC(year, month + 1),
    day: Date.UTC(year, month, day + 1),
  };
  return next[unit] - 1;
}
