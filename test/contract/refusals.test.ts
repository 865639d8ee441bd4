import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { projectDir } from '../../infra/build/build.ts';
import { refusedFields, schemasIn } from '../../infra/build/refusals.ts';
import { declaredKeysOf } from '../../lib/shared/schema.ts';
import { requestIssues } from '../support/requestIssues.ts';
import { endpoints } from './cases.ts';

const refusals = refusedFields();
const own = endpoints.filter(({ twinOf }) => twinOf === undefined);

/** Returns whether a schema takes no value, or of all values only false. */
function takesNothing(schema: z.core.$ZodType): boolean {
  const { type } = (schema as z.core.$ZodTypes)._zod.def;
  if (declaredKeysOf(schema) || !['never', 'boolean', 'literal', 'custom'].includes(type)) return false;
  const values = schema instanceof z.ZodLiteral ? [...schema.values].filter((value) => value !== false) : [];
  return ![true, 'text', 1, {}, [], ...values].some((value) => z.safeParse(schema, value).success);
}

/** Returns a request that has `value` in a field such as `users[].name`. */
function requestWith(field: string, value: unknown): unknown {
  return field.split('.').reduceRight<unknown>((inner, name) => {
    const key = name.replace('[]', '');
    return { [key]: key === name ? inner : [inner] };
  }, value);
}

describe('the list of refused fields', () => {
  test('has each field of a request that takes nothing, or false alone', () => {
    const found = own.flatMap(({ path, input }) =>
      [...schemasIn(input)].filter(([, schema]) => takesNothing(schema)).map(([field]) => ({ path, field })),
    );
    const missing = found.filter(
      ({ path, field }) =>
        !refusals.some((refusal) => refusal.path === path && `${field}.`.startsWith(`${refusal.field}.`)),
    );
    expect(missing).toEqual([]);
    expect(found.map(({ field }) => field)).toEqual(expect.arrayContaining(['context', 'uid', 'orderByCommentViews']));
  });

  test('has each message of the code that refuses a field for every request', () => {
    const messages = globSync('{functions,lib}/**/*.ts', { cwd: projectDir })
      // Whether a user token may send markup depends on the caller, so another page has this refusal.
      .filter((file) => !file.startsWith('lib/userTokens/') && !file.startsWith('lib/client/'))
      .flatMap((file) => [
        ...readFileSync(join(projectDir, file), 'utf8').matchAll(
          /'(must (?:be left out|be false|be false or left out|not be true): [^']+)'/g,
        ),
      ])
      .map(([, message]) => message);
    expect(messages.length).toBeGreaterThan(5);
    expect(refusals.map(({ message }) => message)).toEqual(expect.arrayContaining(messages));
  });

  test.each(
    refusals
      .filter(({ values, field }) => ['any', '`true`'].includes(values) && !field.startsWith('<'))
      .map((refusal) => [refusal.path, refusal.field, refusal.message] as const),
  )('%s refuses %s with the message of the list', (path, field, message) => {
    const { input } = endpoints.find((endpoint) => endpoint.path === path)!;
    const sent = field.replaceAll('[]', '[0]');
    expect(requestIssues(input, requestWith(field, true)).map((issue) => issue.message)).toContain(
      `${sent} ${message}`,
    );
  });
});
