import * as z from 'zod';
import type { Capability } from '../../app/capability.ts';
import type { SecretBox } from '../../crypto/secretBox.ts';
import { type ConfigEntity, configStore } from './configStore.ts';

/**
 * Returns the common part of the declarations of a configuration's `get` and `update` endpoints. The file of each endpoint
 * spreads one of them and adds its own fields. A configuration with a secret needs `box`.
 */
export function configEndpoints<S extends z.ZodObject>(entity: ConfigEntity<S>, box?: Capability<SecretBox>) {
  const output = z.object({ data: entity.schema });
  return {
    get: {
      auth: 'apiKey',
      kind: 'read',
      body: 'optional',
      input: z.object({}),
      output,
      errors: [],
      uses: { config: configStore(entity, ['GetItem'], box) },
      example: { data: {}, result: { data: entity.initial } },
    },
    update: {
      auth: 'apiKey',
      kind: 'write',
      output,
      errors: ['ABORTED'],
      uses: { config: configStore(entity, ['GetItem', 'PutItem'], box) },
    },
  } as const;
}
