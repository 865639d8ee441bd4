import { expect } from '@jest/globals';
import fc from 'fast-check';
import { segmentsOf } from '../../../infra/local/console/page/demo/differences.ts';
import { compareValues } from '../../../lib/editors/rules/yjs/compareValues.ts';
import { testProperty } from '../../support/testProperty.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '😀'), maxLength: 30 });

testProperty(
  'the marked text of the demo page has the text of the version and the present text',
  [text, text],
  (then, now) => {
    const { operations } = compareValues('text', then, now) as { operations: [] };
    const segments = segmentsOf(then, operations);
    const without = (left: string) =>
      segments
        .filter(({ where }) => where !== left)
        .map(({ text: part }) => part)
        .join('');
    expect([without('now'), without('version')]).toEqual([then, now]);
  },
);
