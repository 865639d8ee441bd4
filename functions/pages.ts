/** The registry of what people open in a browser: one line per page or asset, as in `index.ts` for endpoints. */
export { asset as docs } from './docs.ts';
export { asset as openapi } from './openapi.json.ts';
export { page as workspaceEmailVerify } from './v2/workspace/email/verify.ts';
export { page as notificationsEmailUnsubscribe } from './v2/notifications/email/unsubscribe.ts';
