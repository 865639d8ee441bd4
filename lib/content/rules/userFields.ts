/**
 * Returns which of the given fields of a record a user token wrote last, after a write of `sent`. Returns undefined if there
 * are none. Mails and notifications show links in these fields only if their hosts are allowed domains.
 */
export function userFieldsAfter(
  before: readonly string[] | undefined,
  sent: Readonly<Record<string, unknown>>,
  fields: readonly string[],
  byUser: boolean,
): string[] | undefined {
  const after = fields.filter((field) => (sent[field] === undefined ? (before?.includes(field) ?? false) : byUser));
  return after.length > 0 ? after : undefined;
}
