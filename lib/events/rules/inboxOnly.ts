/**
 * Whether events of this type make in-app notifications only. No trigger and no filter of webhooks, mails or channels has
 * them. In a file of its own, because every function that emits events needs it, and few need the catalogue.
 */
export function isInboxOnly(event: string): boolean {
  return event === 'comment_annotation.access_mode_change';
}
