import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { validate } from '../../../lib/http/validate.ts';
import { optional, requireChange } from '../../../lib/shared/schema.ts';

describe('requireChange', () => {
  const Config = z
    .object({ id: z.string(), a: optional(z.boolean()), b: optional(z.unknown()) })
    .check(requireChange(['a', 'b'], 'Nothing was sent.'));
  const parse = (sent: object) => validate(z.object({ config: Config }), { config: { id: 'x', ...sent } });

  test.each([[{}], [{ a: undefined }], [{ a: null }]])(
    'rejects %p with the message, and with an issue for each field',
    (sent) => {
      const issues = [
        { path: ['config'], message: 'Nothing was sent.' },
        { path: ['config', 'a'], message: 'config.a is required when no other field is given' },
        { path: ['config', 'b'], message: 'config.b is required when no other field is given' },
      ].map((issue) => ({ ...issue, code: 'nothing_to_change' }));
      expect(() => parse(sent)).toThrow(
        expect.objectContaining({ status: 'INVALID_ARGUMENT', message: 'Nothing was sent.', details: { issues } }),
      );
    },
  );

  test.each([[{ a: false }], [{ a: undefined, b: '' }], [{ b: {} }]])('accepts %p', (sent) => {
    expect(() => parse(sent)).not.toThrow();
  });
});
