import { isObject } from '../../../lib/shared/collections.ts';
import { StartError } from '../startError.ts';

export type EventFilter = (record: object) => boolean;

type TextRule = string | { readonly prefix: string } | { readonly suffix: string };
type Pattern = { readonly [name: string]: readonly TextRule[] | Pattern };

/**
 * A record passes if it matches any pattern, or if there are none. Throws a `StartError`, which names the event source
 * (`owner`), for a pattern that the local run does not support.
 */
export function eventFilter(criteria: unknown, owner: string): EventFilter {
  const filters = (criteria as { Filters?: readonly { Pattern: string }[] } | undefined)?.Filters ?? [];
  const patterns = filters.map(({ Pattern }) => {
    const pattern: unknown = JSON.parse(Pattern);
    if (!isPattern(pattern))
      throw new StartError(
        `The event source ${owner} filters by ${Pattern}. The local run supports exact strings, prefixes and suffixes only.`,
      );
    return pattern;
  });
  return (record) => patterns.length === 0 || patterns.some((pattern) => matches(pattern, record));
}

function isPattern(value: unknown): value is Pattern {
  if (!isObject(value)) return false;
  return Object.values(value).every((rule) =>
    Array.isArray(rule) ? rule.length > 0 && rule.every(isTextRule) : isPattern(rule),
  );
}

function isTextRule(rule: unknown): rule is TextRule {
  if (typeof rule === 'string') return true;
  if (typeof rule !== 'object' || rule === null) return false;
  const [[name, value] = [], ...others] = Object.entries(rule) as [string, unknown][];
  return others.length === 0 && (name === 'prefix' || name === 'suffix') && typeof value === 'string';
}

function matchesText(rule: TextRule, value: unknown): boolean {
  if (typeof rule === 'string') return value === rule;
  if (typeof value !== 'string') return false;
  return 'prefix' in rule ? value.startsWith(rule.prefix) : value.endsWith(rule.suffix);
}

function matches(pattern: Pattern, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(pattern).every(([name, rule]) => {
    const fieldValue = (value as Record<string, unknown>)[name];
    return Array.isArray(rule)
      ? rule.some((each: TextRule) => matchesText(each, fieldValue))
      : matches(rule as Pattern, fieldValue);
  });
}
