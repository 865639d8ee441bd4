import * as z from 'zod';
import type { ContentUser } from '../../content/rules/contentUser.ts';
import { distinct } from '../../shared/collections.ts';
import { defineNamedSchema, defineSchema, Id, optional, unchangedObject } from '../../shared/schema.ts';

export type Open = Readonly<Record<string, unknown>>;

const Contact = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      userId: optional(Id),
      contact: optional(z.object({ userId: optional(Id) })).describe('The user, in an older form: `contact.userId`.'),
    })
    .describe('A mentioned user. Other fields, such as the `text` of the mention, are stored unchanged.'),
);
export const TaggedUser = /* @__PURE__ */ defineNamedSchema('TaggedUserInput', () =>
  unchangedObject(
    Contact.check(
      z.refine((tagged) => taggedUserId(tagged) !== undefined, {
        path: ['userId'],
        error: 'must be given, here or in contact',
      }),
    ),
  ),
);

export function taggedUserId(tagged: Open): string | undefined {
  const { userId, contact } = tagged as z.output<typeof Contact>;
  return userId ?? contact?.userId ?? undefined;
}

export function mentionedBy(
  to: readonly ContentUser[] = [],
  tagged: readonly Open[] = [],
  others: readonly string[] = [],
): string[] {
  return distinct([
    ...others,
    ...tagged.map((user) => taggedUserId(user) as string),
    ...to.map(({ userId }) => userId),
  ]);
}
