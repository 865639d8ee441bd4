import * as z from 'zod';
import { invalid } from '../../shared/errors.ts';
import { Id, optional } from '../../shared/schema.ts';
import { findValueFault } from './yjs/replaceValue.ts';
import { crdtTypes } from './yjs/values.ts';
import { changing, editorName, EditorValue, ownIds } from './editors.ts';

/** A request that says what is to be in an editor. `contentKey` is where in the document of Yjs it lies. */
export const ValueRequest = z.object({
  ...editorName,
  data: EditorValue,
  type: z.enum(crdtTypes),
  contentKey: optional(Id),
  ...changing,
  ...ownIds,
});

/** INVALID_ARGUMENT when the value does not fit its type (spec 4.16), or exceeds a limit. */
export function requireFitting({ type, data }: Pick<z.output<typeof ValueRequest>, 'type' | 'data'>): void {
  const fault = findValueFault(type, data);
  if (fault !== undefined) throw invalid({ path: ['data'], code: 'invalid_data', message: fault });
}
