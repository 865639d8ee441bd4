import * as z from 'zod';
import { Id, Name, optional } from '../../shared/schema.ts';
import { Instant } from '../../shared/times.ts';
import { type Judgment, judgeTypeOf, judgeTypes } from './judgments.ts';

/** What narrows judgments by what they say of themselves; each is met exactly. */
export const judgmentFilters = {
  decision: optional(Name),
  judgeType: optional(z.enum(judgeTypes)),
  contentType: optional(Name),
  reviewerId: optional(Id),
};
export type JudgmentFilters = z.output<z.ZodObject<typeof judgmentFilters>>;

/** A time from an instant to another one, both included, in epoch ms. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Everything that was ever decided. */
export const ALWAYS: TimeRange = { from: 0, to: Date.UTC(9999, 11, 31, 23, 59, 59, 999) };

/** A range of dates as callers send it; open where an end is missing. */
export const DateRange = z.object({ start: optional(Instant), end: optional(Instant) }).check(
  z.refine(({ start, end }) => start === undefined || end === undefined || start <= end, {
    path: ['start'],
    error: 'must not be after end',
  }),
);

/** The time that a range of dates spans. */
export function timeRange({ start, end }: z.output<typeof DateRange>): TimeRange {
  return { from: start ?? ALWAYS.from, to: end ?? ALWAYS.to };
}

const DAY_MS = 24 * 60 * 60_000;

/** The last so many days up to now. */
export function recently(days: number, now: number): TimeRange {
  return { from: Math.max(0, now - days * DAY_MS), to: now };
}

/** What filters look at, in the order in which keys of indexes have it. */
export const filtered = ['decision', 'judgeType', 'contentType', 'reviewerId'] as const;
export type Filtered = (typeof filtered)[number];

/** What a judgment says of itself to filters; a type of content that was not given is empty. */
export function filteredValues(judgment: Judgment): Record<Filtered, string> {
  const {
    decision,
    contentType = '',
    actionUser: { userId },
  } = judgment;
  return { decision, judgeType: judgeTypeOf(judgment), contentType, reviewerId: userId };
}
