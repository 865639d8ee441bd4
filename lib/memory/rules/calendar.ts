import type { TimeRange } from './filters.ts';

const units = ['all', 'year', 'month', 'day'] as const;

/**
 * A time range within one calendar unit (UTC). The vector index compares for equality only, so vectors are found by the name of their year,
 * month or day, such as `2026-01`; `all` has no name.
 */
export interface CalendarPeriod extends TimeRange {
  readonly unit: (typeof units)[number];
  readonly name: string;
}

/** Length of the beginning of an ISO 8601 time that names a unit. */
const nameLengths = { all: 0, year: 4, month: 7, day: 10 } as const;

function nameOf(unit: CalendarPeriod['unit'], at: number): string {
  return new Date(at).toISOString().slice(0, nameLengths[unit]);
}

/** Returns the names of the year, the month and the day of a time. */
export function calendarOf(at: number): { readonly year: string; readonly month: string; readonly day: string } {
  return { year: nameOf('year', at), month: nameOf('month', at), day: nameOf('day', at) };
}

/** Returns the smallest period that covers a range. */
export function periodOf({ from, to }: TimeRange): CalendarPeriod {
  const unit = units.findLast((one) => nameOf(one, from) === nameOf(one, to)) ?? 'all';
  return { unit, name: nameOf(unit, from), from, to };
}

const DAY_MS = 24 * 60 * 60_000;
/** Approximate length of a unit. For `all`, a range below half of this length is searched by years. */
const unitLengths = { all: 730 * DAY_MS, year: 365 * DAY_MS, month: 30 * DAY_MS, day: DAY_MS } as const;
const MAX_PERIODS = 4;

/** Returns at most four periods that cover a range and little else: two days at the end of a year are two days, not all time. */
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

/** Splits a period into periods of the next smaller unit, in order; a day has none. */
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

/** Returns the last millisecond of the year, month or day of a time. */
function endOf(unit: 'year' | 'month' | 'day', at: number): number {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const next = {
    year: Date.UTC(year + 1, 0),
    month: Date.UTC(year, month + 1),
    day: Date.UTC(year, month, day + 1),
  };
  return next[unit] - 1;
}
