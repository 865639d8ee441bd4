import type { TimeRange } from './filters.ts';

/** A stretch of the calendar (UTC) by which vectors can be found: all of it, or a year, month or day such as `2026-01`. */
export interface Stretch extends TimeRange {
  readonly unit: 'all' | 'year' | 'month' | 'day';
  readonly name: string;
}

const units = ['all', 'year', 'month', 'day'] as const;
/** How much of an instant as ISO 8601 names the stretch that it is in. */
const nameLengths = { all: 0, year: 4, month: 7, day: 10 } as const;

function named(unit: Stretch['unit'], at: number): string {
  return new Date(at).toISOString().slice(0, nameLengths[unit]);
}

/** The year, month and day of an instant. */
export function calendarOf(at: number): { readonly year: string; readonly month: string; readonly day: string } {
  return { year: named('year', at), month: named('month', at), day: named('day', at) };
}

/** The smallest stretch that has all of a time. */
export function stretchOf({ from, to }: TimeRange): Stretch {
  const unit = units.toReversed().find((one) => named(one, from) === named(one, to)) ?? 'all';
  return { unit, name: named(unit, from), from, to };
}

const DAY_MS = 24 * 60 * 60_000;
/** About how long a stretch is; of all the time as much as makes the years of it worth a search each. */
const lengths = { all: 730 * DAY_MS, year: 365 * DAY_MS, month: 30 * DAY_MS, day: DAY_MS } as const;
/** How many stretches are searched to begin with. */
const MOST_AT_FIRST = 4;

/** A few stretches that have all of a time, and as little else as may be: two days at the end of a year are two days. */
export function stretchesOf(range: TimeRange): Stretch[] {
  let stretches = [stretchOf(range)];
  for (;;) {
    const finer = stretches.flatMap((stretch) =>
      stretch.to - stretch.from < lengths[stretch.unit] / 2 && stretch.unit !== 'day' ? partsOf(stretch) : [stretch],
    );
    if (finer.length > MOST_AT_FIRST || finer.every((stretch, index) => stretch.name === stretches[index]?.name))
      return stretches;
    stretches = finer;
  }
}

/** The parts of a stretch in its time, the first one first; none of a day. */
export function partsOf({ unit, from, to }: Stretch): Stretch[] {
  const next = units[units.indexOf(unit) + 1];
  if (next === undefined || next === 'all') return [];
  const parts: Stretch[] = [];
  for (let start = from; start <= to;) {
    const end = Math.min(endOf(next, start), to);
    parts.push({ unit: next, name: named(next, start), from: start, to: end });
    start = end + 1;
  }
  return parts;
}

/** The last millisecond of the year, month or day of an instant. */
function endOf(unit: 'year' | 'month' | 'day', at: number): number {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const next =
    unit === 'year'
      ? Date.UTC(year + 1, 0)
      : unit === 'month'
        ? Date.UTC(year, month + 1)
        : Date.UTC(year, month, day + 1);
  return next - 1;
}
