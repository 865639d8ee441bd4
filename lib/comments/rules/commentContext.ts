import * as z from 'zod';
import { accessFields } from '../../directory/rules/access.ts';
import { AccessContext, AnyObject, defineNamedSchema, optional } from '../../shared/schema.ts';

export const Context = /* @__PURE__ */ defineNamedSchema('ContextInput', () =>
  z
    .object({
      access: optional(AccessContext).describe(
        'Values by field. Only users whose access context on the document has all of them see the content.',
      ),
    })
    .describe('Narrows who may see the content.'),
);

export const ContextResponse = /* @__PURE__ */ defineNamedSchema('Context', () =>
  z
    .object({
      access: AnyObject.describe('The values by field, as they were sent.').optional(),
      accessFields: z.array(z.string()).describe('The same values as texts `field:value`.'),
    })
    .describe('The access context that a reader needs.'),
);

export function toContextResponse(text: string | undefined): z.output<typeof ContextResponse> | undefined {
  if (text === undefined) return undefined;
  const { access } = JSON.parse(text) as z.output<typeof Context>;
  return { access, accessFields: accessFields(access ?? {}) };
}

export function accessFieldsOf(text: string | undefined): string[] | undefined {
  const items = toContextResponse(text)?.accessFields ?? [];
  return items.length > 0 ? items : undefined;
}
