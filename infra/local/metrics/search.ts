import type { Scanner } from './scanner.ts';
import type { MetricId } from './series.ts';

/** The metrics with a name and exactly these dimensions, filtered by words in the values of dimensions. */
export interface Search {
  readonly kind: 'search';
  readonly namespace: string;
  readonly name: string;
  readonly dimensionNames: readonly string[];
  /** Required words by dimension. */
  readonly words: Readonly<Record<string, readonly string[]>>;
}

/** Reads the quoted argument of `SEARCH`: `{Namespace,Dimension} MetricName="name" Dimension=part`. */
export function searchOf(quoted: string, scanner: Scanner): Search {
  const [, namespace, schema, name, rest] =
    /^'\s*\{([\w/]+),([\w,]+)\} MetricName="([^"]+)"((?: \w+=[\w-]+)*)\s*'$/.exec(quoted) ?? [];
  if (namespace === undefined || schema === undefined || name === undefined || rest === undefined)
    throw scanner.problem(`the search ${quoted}`);
  const dimensionNames = schema.split(',');
  const terms = rest
    .split(' ')
    .filter(Boolean)
    .map((term) => term.split('=') as [string, string]);
  const unsupported = terms.find(([dimension]) => !dimensionNames.includes(dimension));
  if (unsupported) throw scanner.problem(`the search by ${unsupported[0]}, which is not among its dimensions`);
  return {
    kind: 'search',
    namespace,
    name,
    dimensionNames,
    words: Object.fromEntries(terms.map(([dimension, part]) => [dimension, wordsOf(part)])),
  };
}

/** Returns whether a search finds a metric with the searched name. Values match by whole words, as in CloudWatch. */
export function finds({ dimensionNames, words }: Search, { dimensions }: MetricId): boolean {
  return (
    hasExactly(dimensions, dimensionNames) &&
    Object.entries(words).every(([dimension, wanted]) => {
      const there = wordsOf(dimensions[dimension] ?? '');
      return wanted.every((word) => there.includes(word));
    })
  );
}

export function hasExactly(dimensions: MetricId['dimensions'], names: readonly string[]): boolean {
  return Object.keys(dimensions).length === names.length && names.every((name) => dimensions[name] !== undefined);
}

/** Splits a value into words: `CollaborationBackend-V2Auth` into collaboration, backend, v, 2, auth. */
function wordsOf(value: string): string[] {
  return (value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? []).map((word) => word.toLowerCase());
}
