import type * as z from 'zod';
import { ApiError, type Issue } from '../errors.ts';

const ISSUES_SHOWN = 100;

/** Checks `data` against an endpoint's schema; nothing is coerced. INVALID_ARGUMENT with every problem in `details.issues`. */
export function validate(schema: z.ZodType, data: unknown): unknown {
  const parsed = schema.safeParse(data, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, ISSUES_SHOWN).flatMap((issue) => describe(issue as z.core.$ZodIssue, []));
  throw new ApiError('INVALID_ARGUMENT', issues[0]?.message ?? 'Invalid request', { details: { issues } });
}

function describe(issue: z.core.$ZodIssue, outer: (string | number)[]): Issue[] {
  const path = [...outer, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  return [{ path, code: issue.code, message: message(issue, fieldName(path)) }];
}

/** `folders[3].folderId` of `['folders', 3, 'folderId']`: how messages name a field. */
export function fieldName(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'data';
  return path.reduce<string>((name, part) => (typeof part === 'number' ? `${name}[${part}]` : name ? `${name}.${part}` : part), '');
}

const nouns: Record<string, string> = {
  string: 'a string', number: 'a number', int: 'an integer', boolean: 'a boolean', array: 'an array', object: 'an object', record: 'an object', date: 'a date',
};

function message(issue: z.core.$ZodIssue, field: string): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `${field} is required` : `${field} must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? `${field} is required` : `${field} must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      if (issue.origin === 'string') return issue.minimum === 1 ? `${field} must not be empty` : `${field} must have at least ${issue.minimum} characters`;
      if (issue.origin === 'array') return issue.minimum === 1 ? `${field} must not be empty` : `${field} must have at least ${issue.minimum} items`;
      return `${field} must be ${issue.inclusive === false ? 'greater than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `${field} must have at most ${issue.maximum} characters`;
      if (issue.origin === 'array') return `${field} must have at most ${issue.maximum} items`;
      return `${field} must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'unrecognized_keys':
      return `${field} has unknown keys: ${issue.keys.join(', ')}`;
    default:
      return /^(must|is) /.test(issue.message) ? `${field} ${issue.message}` : `${field}: ${issue.message}`;
  }
}
