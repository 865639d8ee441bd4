import * as z from 'zod';
import type { Capability } from '../../app/capability.ts';
import type { SecretBox } from '../../crypto/secretBox.ts';
import { type ConfigEntity, configStore } from './configStore.ts';

/**
 * The fields that all `get` and all `update` endpoints of configurations have in common. An endpoint spreads one of the
 * two objects. For a configuration with a secret, pass `box`.
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
