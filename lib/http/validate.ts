import type * as z from 'zod';
import type { FixedMessages } from '../app/endpoint.ts';
import { ApiError, fieldName, type Issue } from '../shared/errors.ts';
import { unknownFieldIssue, unknownFields } from '../shared/unknownFields.ts';

const MAX_ISSUES = 100;

/** Throws INVALID_ARGUMENT with the problems in `details.issues`. */
export function validate(schema: z.ZodType, data: unknown, messages: FixedMessages = {}): unknown {
  const { output, issues } = parse(schema, data, messages);
  if (issues.length > 0) refuse(issues);
  return output;
}

/** Undeclared fields come first: a misspelt field can be why another one is missing. */
export function validateRequest(schema: z.ZodType, data: unknown, messages: FixedMessages = {}): unknown {
  const unknown = unknownFields(schema, data);
  const { output, issues } = parse(schema, data, messages);
  const others = issues.filter(({ code }) => code !== 'unrecognized_keys');
  if (unknown.length + others.length > 0) refuse([...unknown, ...others].slice(0, MAX_ISSUES));
  return output;
}

function refuse(issues: readonly Issue[]): never {
  throw new ApiError('INVALID_ARGUMENT', issues[0]?.message ?? 'Invalid request', { details: { issues } });
}

function parse(schema: z.ZodType, data: unknown, messages: FixedMessages): { output?: unknown; issues: Issue[] } {
  const parsed = schema.safeParse(data, { reportInput: true });
  if (parsed.success) return { output: parsed.data, issues: [] };
  const zodIssues = parsed.error.issues.slice(0, MAX_ISSUES);
  const issues = zodIssues.flatMap((zodIssue) =>
    toIssues(zodIssue, []).map((issue) => ({
      ...issue,
      message: fixedMessage(zodIssue, messages) ?? issue.message,
    })),
  );
  if (messages.type !== undefined && zodIssues[0] && hasWrongType(zodIssues[0]))
    issues.unshift({ path: [], code: 'invalid_type', message: messages.type });
  return { issues };
}

function hasWrongType(issue: z.core.$ZodIssue): boolean {
  return (
    issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof issue.input !== typeof issue.values[0])
  );
}

function fixedMessage({ path, code, input }: z.core.$ZodIssue, messages: FixedMessages): string | undefined {
  if (path.length > 1) return undefined;
  const [field] = path;
  if (input === undefined) return messages.required?.[String(field)];
  return code === 'invalid_format' ? messages.format?.[String(field)] : undefined;
}

function toIssues(issue: z.core.$ZodIssue, outer: readonly (string | number)[]): Issue[] {
  const path = [...outer, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  const nearest = issue.code === 'invalid_union' ? nearestAlternative(issue) : undefined;
  if (nearest) return nearest.flatMap((inner) => toIssues(inner, path));
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownFieldIssue([...path, key]));
  return [{ path, code: issue.code, message: message(issue, fieldName(path)) }];
}

/** Of the alternatives that have the value's type, the one with the fewest invalid fields. */
function nearestAlternative({ errors }: Alternatives): z.core.$ZodIssue[] | undefined {
  const sameType = errors.filter((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0));
  return sameType.toSorted((a, b) => a.length - b.length)[0];
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
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- other codes have the message of zod
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
    case 'not_multiple_of':
      return `${field} must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return (
        predicate(field, issue.message) ??
        `${field} must be ${formats[issue.format] ?? `of the format ${issue.format}`}`
      );
    case 'invalid_union':
      if (issue.input === undefined) return `${field} is required`;
      return predicate(field, issue.message) ?? `${field} must be ${allowedBy(issue)}`;
    case 'invalid_key':
    case 'invalid_element':
      return `${field}: ${issue.message}`;
    default:
      return predicate(field, issue.message) ?? issue.message;
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

function predicate(field: string, message: string): string | undefined {
  return /^(must|is) /.test(message) ? `${field} ${message}` : undefined;
}

type Alternatives = z.core.$ZodIssueInvalidUnion & { readonly options?: readonly unknown[] };

function allowedBy({ errors, options }: Alternatives): string {
  if (options) return options.map((value) => JSON.stringify(value)).join(' or ');
  const firsts = errors.flatMap(([first]) => first ?? []);
  const texts = firsts.map((first) =>
    message(first, '')
      .replace(/^ must be /, '')
      .trim(),
  );
  return [...new Set(texts)].join(' or ') || 'one of the documented alternatives';
}
