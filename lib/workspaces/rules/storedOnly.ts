import * as z from 'zod';
import { isObject } from '../../shared/collections.ts';
import { defineSchema } from '../../shared/schema.ts';

export const noProvider = 'The service calls no permission provider. Give access with `/v2/auth/permissions/add`.';

/**
 * Settings that are stored for clients and have no effect, by the path of the field. Delete a line when its setting gets
 * an effect.
 */
const reasons = {
  enablePrivateComments: 'The `visibility` of a thread alone says who may see its comments.',
  requireJwtToken: 'Users always need a user token.',
  requireAutoOrgUser: 'The service adds no user to an organization by itself.',
  'aiModelApiKey.customerApiKey': 'The service calls only models of its operator.',
  usePermissionProvider: noProvider,
  'permissionProviderConfig.permissionProviderUrl': noProvider,
  'permissionProviderConfig.authToken': noProvider,
} as const;

/** The text of the field for the API reference. */
export function storedOnly(field: keyof typeof reasons, text: string): string {
  return `${text} Stored, no effect yet. ${reasons[field]}`;
}

export const Warnings = /* @__PURE__ */ defineSchema(() =>
  z
    .array(
      z.object({
        field: z.string().describe('The path of the field in the request.'),
        reason: z.string().describe('Why the setting has no effect.'),
      }),
    )
    .optional()
    .describe('Settings that the request sets, and that have no effect. Missing without such settings.'),
);

interface Warned {
  readonly warnings?: NonNullable<z.output<typeof Warnings>>;
}

/** Warns of settings without effect that the request sets to `true` or to a text. Spread the object into the answer. */
export function warningsOf(input: object): Warned {
  const warnings = Object.entries(reasons).flatMap(([field, reason]) =>
    valuesAt(input, field.split('.')).some((value) => value === true || (typeof value === 'string' && value !== ''))
      ? [{ field, reason }]
      : [],
  );
  return warnings.length > 0 ? { warnings } : {};
}

/** Of a list, the values of all items. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  return path.reduce<unknown[]>(
    (values, name) => values.flatMap((parent) => (isObject(parent) ? [parent[name]].flat() : [])),
    [value],
  );
}
