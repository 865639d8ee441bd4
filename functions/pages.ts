/** The registry of the pages that people open in a browser: one line per page, as in `index.ts` for endpoints. */
export { page as workspaceEmailVerify } from './v2/workspace/email/verify.ts';
export { page as notificationsEmailUnsubscribe } from './v2/notifications/email/unsubscribe.ts';
