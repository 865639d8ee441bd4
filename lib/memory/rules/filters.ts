import * as z from 'zod';
import { defineSchema, Id, Name, optional } from '../../shared/schema.ts';
import { Instant } from '../../shared/times.ts';
import { judgeTypeOf, judgeTypes, type Judgment } from './judgments.ts';

export const judgmentFilters = /* @__PURE__ */ defineSchema(() => ({
  decision: optional(Name).describe('Only judgments with exactly this decision.'),
  judgeType: optional(z.enum(judgeTypes)).describe(
    'Only judgments of agents (those with `agent`), or only those of persons.',
  ),
  contentType: optional(Name).describe('Only judgments with exactly this content type.'),
  reviewerId: optional(Id).describe('Only judgments of the reviewer whose `actionUser.userId` this is.'),
}));
export type JudgmentFilters = z.output<z.ZodObject<typeof judgmentFilters>>;

/** Epoch ms, both ends included. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export const ALL_TIME: TimeRange = { from: 0, to: Date.UTC(9999, 11, 31, 23, 59, 59, 999) };

export const DateRange = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      start: optional(Instant).describe('The earliest `createdAt`, included: epoch milliseconds or ISO 8601.'),
      end: optional(Instant).describe(
        'The latest `createdAt`, included: epoch milliseconds or ISO 8601. A date means its first moment.',
      ),
    })
    .check(
      z.refine(({ start, end }) => start === undefined || end === undefined || start <= end, {
        path: ['start'],
        error: 'must not be after end',
      }),
    ),
);

export function toTimeRange({ start, end }: z.output<typeof DateRange>): TimeRange {
  return { from: start ?? ALL_TIME.from, to: end ?? ALL_TIME.to };
}

const DAY_MS = 24 * 60 * 60_000;

/** Without an end: the clock of a caller can be ahead, so the latest judgments can have a time after `now`. */
export function lastDays(days: number, now: number): TimeRange {
  return { from: Math.max(0, now - days * DAY_MS), to: ALL_TIME.to };
}

export const filterFields = ['decision', 'judgeType', 'contentType', 'reviewerId'] as const;
export type FilterField = (typeof filterFields)[number];

export function filteredValues(judgment: Judgment): Record<FilterField, string> {
  const { decision, contentType = '', actionUser } = judgment;
  return { decision, judgeType: judgeTypeOf(judgment), contentType, reviewerId: actionUser.userId };
}
