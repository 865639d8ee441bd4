import * as z from 'zod';
import { invalid } from '../../shared/errors.ts';
import { Id, optional } from '../../shared/schema.ts';
import { authorFields, editorName, EditorValue, ownIds } from './editors.ts';
import { findValueFault } from './yjs/replaceValue.ts';
import { crdtTypes } from './yjs/values.ts';

export const ValueRequest = z.object({
  ...editorName,
  data: EditorValue.describe(
    'The value: a string for `text` and `xml`, an object for `map`, an array for `array`. At most 4,194,304 bytes as JSON, 100 levels, and 100,000 objects, arrays and keys.',
  ),
  type: z.enum(crdtTypes).describe('The type of the editor. It never changes.'),
  contentKey: optional(Id).describe(
    'The name of the root type in the Yjs document. A new editor has `content` by default. Rich-text editors use `default`. It never changes.',
  ),
  ...authorFields,
  ...ownIds,
});

export function requireFitting({ type, data }: Pick<z.output<typeof ValueRequest>, 'type' | 'data'>): void {
  const fault = findValueFault(type, data);
  if (fault !== undefined) throw invalid({ path: ['data'], code: 'invalid_data', message: fault });
}
