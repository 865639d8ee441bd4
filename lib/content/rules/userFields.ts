/**
 * Returns the fields whose value a user sent. Mails show links in these fields only if the hosts of the links are
 * allowed.
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
