import type * as z from 'zod';
import type { FixedMessages } from '../app/endpoint.ts';
import { ApiError, type Issue } from '../shared/errors.ts';

const ISSUES_SHOWN = 100;

/** Checks `data` against an endpoint's schema; nothing is coerced. INVALID_ARGUMENT with every problem in `details.issues`. */
export function validate(schema: z.ZodType, data: unknown, known: FixedMessages = {}): unknown {
  const parsed = schema.safeParse(data, { reportInput: true });
  if (parsed.success) return parsed.data;
  const found = parsed.error.issues.slice(0, ISSUES_SHOWN) as z.core.$ZodIssue[];
  const [first, ...others] = found.flatMap((issue) =>
    describe(issue, []).map((described) => ({
      ...described,
      message: knownMessage(issue, known) ?? described.message,
    })),
  );
  const general =
    first && known.type !== undefined && found[0] && hasWrongType(found[0])
      ? [{ path: [], code: 'invalid_type', message: known.type }]
      : [];
  const issues = [...general, ...(first ? [first] : []), ...others];
  throw new ApiError('INVALID_ARGUMENT', issues[0]?.message ?? 'Invalid request', { details: { issues } });
}

function hasWrongType(issue: z.core.$ZodIssue): boolean {
  return (
    issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof issue.input !== typeof issue.values[0])
  );
}

function knownMessage({ path, code, input }: z.core.$ZodIssue, known: FixedMessages): string | undefined {
  const [field, ...rest] = path;
  if (rest.length > 0) return undefined;
  if (input === undefined) return known.required?.[String(field)];
  return code === 'invalid_format' ? known.format?.[String(field)] : undefined;
}

function describe(issue: z.core.$ZodIssue, outer: readonly (string | number)[]): Issue[] {
  const path = [...outer, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  const nearest = issue.code === 'invalid_union' ? nearestAlternative(issue as Alternatives) : undefined;
  if (nearest) return nearest.flatMap((inner) => describe(inner, path));
  return [{ path, code: issue.code, message: message(issue, fieldName(path)) }];
}

/**
 * The problems of the alternative that the value was probably meant to be: the one that takes a value of this type and has problems
 * with the fewest of its fields. Undefined when no alternative takes a value of this type.
 */
function nearestAlternative({ errors }: Alternatives): z.core.$ZodIssue[] | undefined {
  const inside = errors.filter((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0));
  return inside.toSorted((a, b) => a.length - b.length)[0];
}

/** `folders[3].folderId` of `['folders', 3, 'folderId']`: how messages name a field. */
export function fieldName(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'data';
  return path.reduce<string>(
    (name, part) => (typeof part === 'number' ? `${name}[${part}]` : name ? `${name}.${part}` : part),
    '',
  );
}

const nouns: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  date: 'a date',
};

function message(issue: z.core.$ZodIssue, field: string): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'never') return predicate(field, issue.message) ?? `${field} must be left out`;
      return issue.input === undefined
        ? `${field} is required`
        : `${field} must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return (
        predicate(field, issue.message) ??
        (issue.input === undefined
          ? `${field} is required`
          : `${field} must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`)
      );
    case 'too_small':
      if (issue.origin === 'string')
        return issue.minimum === 1
          ? `${field} must not be empty`
          : `${field} must have at least ${issue.minimum} characters`;
      if (issue.origin === 'array')
        return issue.minimum === 1
          ? `${field} must not be empty`
          : `${field} must have at least ${issue.minimum} items`;
      return `${field} must be ${issue.inclusive === false ? 'greater than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `${field} must have at most ${issue.maximum} characters`;
      if (issue.origin === 'array') return `${field} must have at most ${issue.maximum} items`;
      return `${field} must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'unrecognized_keys':
      return `${field} has unknown keys: ${issue.keys.join(', ')}`;
    case 'not_multiple_of':
      return `${field} must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return (
        predicate(field, issue.message) ??
        `${field} must be ${formats[issue.format] ?? `of the format ${issue.format}`}`
      );
    case 'invalid_union':
      if (issue.input === undefined) return `${field} is required`;
      return predicate(field, issue.message) ?? `${field} must be ${allowedBy(issue as Alternatives)}`;
    default:
      return predicate(field, issue.message) ?? `${field}: ${issue.message}`;
  }
}

const formats: Record<string, string> = {
  datetime: 'an ISO 8601 date and time',
  date: 'an ISO 8601 date',
  time: 'an ISO 8601 time',
  email: 'an e-mail address',
  url: 'a valid URL',
  base64: 'base64',
  uuid: 'a UUID',
};

/** A schema's own message, which follows the name of the field; undefined for the library's. */
function predicate(field: string, message: string): string | undefined {
  return /^(must|is) /.test(message) ? `${field} ${message}` : undefined;
}

/** An issue of a union. One whose alternatives are told apart by a field lists the values of that field instead. */
type Alternatives = z.core.$ZodIssueInvalidUnion & { readonly options?: readonly unknown[] };

/** What the alternatives of a union allow: `a string or an integer`. */
function allowedBy({ errors, options }: Alternatives): string {
  if (options) return options.map((value) => JSON.stringify(value)).join(' or ');
  const texts = errors.flatMap(([first]) =>
    first
      ? [
          message(first, '')
            .replace(/^ must be /, '')
            .trim(),
        ]
      : [],
  );
  return [...new Set(texts)].join(' or ') || 'one of the documented alternatives';
}
